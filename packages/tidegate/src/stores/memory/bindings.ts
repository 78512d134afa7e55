import type { Limit } from "../../limit.js";
import { type Owner, Table } from "./table.js";

/** A rule's limit, as the store knows it. */
export class Binding {
  readonly rule: string;
  readonly limit: Limit;
  /** What its verdicts are called where the check does not say, once that was asked. */
  name: string | undefined = undefined;
  /** Where its states lie, and as whose; limits with a ledger lie on the shelf instead. */
  readonly table: Table;
  readonly owner: number;
  /** Sets its keys apart from those of other limits in the table. */
  readonly low: number;
  readonly high: number;

  constructor(rule: string, limit: Limit, table: Table, owner: number, { low, high }: Mark) {
    this.rule = rule;
    this.limit = limit;
    this.table = table;
    this.owner = owner;
    this.low = low;
    this.high = high;
  }

  /** The halves of a key's hash under which its state is kept; a low half of 0 means none. */
  lowFor(low: number): number {
    return low ^ this.low || 1;
  }

  highFor(high: number): number {
    return high ^ this.high;
  }
}

type Mark = Pick<Binding, "low" | "high">;

export class Bindings {
  /** One for each size of state. */
  readonly tables: Table[] = [];
  readonly #ofRule = new Map<string, RuleBindings>();
  /** Whose a limit was when last asked for: most limits are one rule's only. */
  readonly #lately = new WeakMap<Limit, Binding>();

  of(rule: string, limit: Limit): Binding {
    const binding = this.#lately.get(limit);
    if (binding !== undefined && binding.rule === rule) return binding;
    const found = this.#find(rule, limit);
    this.#lately.set(limit, found);
    return found;
  }

  #find(rule: string, limit: Limit): Binding {
    let ofRule = this.#ofRule.get(rule);
    if (ofRule === undefined) {
      ofRule = new RuleBindings();
      this.#ofRule.set(rule, ofRule);
    }
    let binding = ofRule.byLimit.get(limit);
    if (binding === undefined) {
      binding = this.#bind(rule, limit, ofRule);
      ofRule.byLimit.set(limit, binding);
      ofRule.byId.set(limit.id, binding);
    }
    return binding;
  }

  /** Two limits of one id under one rule, as those of two tiers, share their states: only the numbers are their own. */
  #bind(rule: string, limit: Limit, ofRule: RuleBindings): Binding {
    const like = ofRule.byId.get(limit.id);
    if (like !== undefined) {
      (like.table.owners[like.owner] as Sharers).add(limit);
      return new Binding(rule, limit, like.table, like.owner, like);
    }
    const table = this.#tableFor(limit);
    const owner = table.owners.push(new Sharers(limit)) - 1;
    return new Binding(rule, limit, table, owner, ofRule.nextMark());
  }

  /** One for each id a limit of the rule has had, also of those no longer in force. */
  ofRule(rule: string): Iterable<Binding> {
    return this.#ofRule.get(rule)?.byId.values() ?? [];
  }

  #tableFor({ cells }: Limit): Table {
    let table = this.tables.find(({ cellsPerRecord, isOpen }) => cellsPerRecord === cells && isOpen);
    if (table === undefined) {
      table = new Table(cells);
      this.tables.push(table);
    }
    return table;
  }
}

/**
 * The limits of one id under one rule, to whichever of which a state may belong: it weighs what the strictest says. By the
 * numbers of a generous tier a client of a poor one, at its limit, would be among the first to be dropped, and free again.
 */
class Sharers implements Owner {
  readonly #limits: Limit[];

  constructor(first: Limit) {
    this.#limits = [first];
  }

  add(limit: Limit): void {
    const limits = this.#limits;
    const like = limits.findIndex((other) => numbersOf(other) === numbersOf(limit));
    if (like >= 0) limits[like] = limit;
    else if (limits.push(limit) > mostSharers) limits.splice(mostGenerous(limits), 1);
  }

  pressure(cells: Float64Array, at: number, now: number): number {
    let most = 0;
    for (const limit of this.#limits) most = Math.max(most, limit.pressure(cells, at, now));
    return most;
  }
}

/** Customers with limits of their own may be many. */
const mostSharers = 16;

function numbersOf({ limit, windowMs, args }: Limit): string {
  return [limit, windowMs, args].join();
}

function mostGenerous(limits: readonly Limit[]): number {
  const rates = limits.map(({ limit, windowMs }) => limit / windowMs);
  return rates.indexOf(Math.max(...rates));
}

class RuleBindings {
  readonly byLimit = new WeakMap<Limit, Binding>();
  readonly byId = new Map<string, Binding>();
  readonly #mark = new Int32Array(2);

  /**
   * Neighbours differ in the last bits only, on which neither segment nor slot depend: what a rule keeps of one key lies
   * side by side, and comes from memory together.
   */
  nextMark(): Mark {
    const nth = this.byId.size % neighbours;
    if (nth === 0) crypto.getRandomValues(this.#mark);
    const [low, high] = this.#mark as unknown as [number, number];
    return { low: low ^ nth, high };
  }
}

/** Far fewer than fill a segment, since a segment can not split between them. */
const neighbours = 16;
