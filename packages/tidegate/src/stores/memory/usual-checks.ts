import { addEstimates, type Check, costOf, isCost, plainVerdict, verdictOf } from "../../check.js";
import type { Verdict } from "../../decision.js";
import type { Docket, LevelCheck, RuleChecks } from "../../docket.js";
import { maxCells, Reading, Ruling } from "../../limit.js";
import type { Binding, Bindings } from "./bindings.js";
import type { KeyInHand } from "./key-in-hand.js";

/** In one decision; more than these are judged the long way. */
const most = 32;
// Of the check in hand: nothing else runs between writing and reading them.
const ruling = new Ruling();
const reading = new Reading();
/** What stood in the cells of each check that is charged. */
const before = new Float64Array(most * maxCells);

/**
 * Several checks while nobody is held, as long as all are known and all allow: most decisions. All are looked for before
 * the first is judged, so that their states come from memory at the same time. Then each is charged as it is judged; the
 * first that refuses has everything put back as it was.
 */
export class UsualChecks {
  readonly #bindings: Bindings;
  readonly #hand: KeyInHand;
  readonly #found = Array.from({ length: most }, () => new Found());

  constructor(bindings: Bindings, hand: KeyInHand) {
    this.#bindings = bindings;
    this.#hand = hand;
  }

  /** Undefined, with nothing done, where there is more to it: one is new, is refused, or something about it is unusual. */
  decide(checks: readonly Check[], now: number, areSound: boolean): Verdict[] | undefined {
    if (checks.length > most || !this.#findChecks(checks, areSound)) return undefined;
    const verdicts = new Array<Verdict>(checks.length);
    let at = 0;
    try {
      for (; at < checks.length; at++) {
        const check = checks[at] as Check;
        if (!charge(this.#found[at] as Found, at, now, costOf(check))) break;
        verdicts[at] = verdictOf(check, check.key, ruling, reading, true, now, 0);
      }
    } catch {
      // The long way meets it too, before anything is charged.
    }
    return at === checks.length ? verdicts : this.#putBack(at);
  }

  /** The same of a docket, which is sound. */
  decideDocket(docket: Docket, now: number): Verdict[] | undefined {
    const { asked, keys, count } = docket;
    const found = this.#found;
    const verdicts = new Array<Verdict>(this.#findAsked(docket));
    if (verdicts.length === 0) return undefined;
    let at = 0;
    try {
      for (let i = 0; i < count; i++) {
        const { levels } = asked[i] as RuleChecks;
        const key = keys[i] as string;
        for (let j = 0; j < levels.length; j++) {
          if (!charge(found[at] as Found, at, now, 1)) return this.#putBack(at);
          const level = levels[j] as LevelCheck;
          const verdict = plainVerdict(level, key, level.name, reading, now);
          addEstimates(verdict, ruling);
          verdicts[at++] = verdict;
        }
      }
    } catch {
      return this.#putBack(at);
    }
    return verdicts;
  }

  #findChecks(checks: readonly Check[], areSound: boolean): boolean {
    for (let at = 0; at < checks.length; at++) {
      const check = checks[at] as Check;
      const { rule, key, limit } = check;
      if (!areSound && !isSound(checks, at)) return false;
      const found = this.#found[at] as Found;
      let { binding } = found;
      if (binding === undefined || binding.limit !== limit || binding.rule !== rule)
        binding = this.#bindings.of(rule, limit);
      if (at === 0 || key !== (checks[at - 1] as Check).key) this.#hand.take(key, check.hashed, areSound);
      if (!isUsual(binding) || !found.find(binding, this.#hand.low, this.#hand.high)) return false;
    }
    return true;
  }

  /** How many there are; 0 where one is not to be found. */
  #findAsked({ asked, keys, hashed, count }: Docket): number {
    const found = this.#found;
    const hand = this.#hand;
    let at = 0;
    for (let i = 0; i < count; i++) {
      const bindings = this.#bindingsOf(asked[i] as RuleChecks);
      if (at + bindings.length > most) return 0;
      hand.take(keys[i] as string, hashed[i], true);
      const { low, high } = hand;
      for (let j = 0; j < bindings.length; j++, at++)
        if (!(found[at] as Found).find(bindings[j] as Binding, low, high)) return 0;
    }
    return at;
  }

  /** More than are judged here where one of them is unusual. */
  #bindingsOf(asked: RuleChecks): readonly Binding[] {
    const { found } = asked;
    if (found !== undefined && found.by === this) return (found as BoundChecks).bindings;
    const bindings = asked.levels.map(({ rule, limit }) => this.#bindings.of(rule, limit));
    const bound = new BoundChecks(this, bindings.every(isUsual) ? bindings : tooMany);
    asked.found = bound;
    return bound.bindings;
  }

  /** Undoes what the first so many charged. Nothing was added meanwhile, so all lies where it lay. */
  #putBack(count: number): undefined {
    for (let i = count - 1; i >= 0; i--) {
      const { binding, cells, offset } = this.#found[i] as Found;
      const { limit } = binding as Binding;
      for (let cell = 0; cell < limit.cells; cell++)
        cells[offset + cell] = before[i * maxCells + cell] as number;
    }
  }
}

/** Charges what was found, if it allows. */
function charge({ binding, cells, offset }: Found, at: number, now: number, cost: number): boolean {
  const { limit } = binding as Binding;
  ruling.delayMs = Number.NaN;
  ruling.estimate = Number.NaN;
  limit.step(cells, offset, now, cost, ruling);
  if (!ruling.allowed) return false;
  const after = ruling.ifAllowed;
  limit.read(after, 0, now, cost, reading);
  for (let cell = 0; cell < limit.cells; cell++) {
    before[at * maxCells + cell] = cells[offset + cell] as number;
    cells[offset + cell] = after[cell] as number;
  }
  return true;
}

/** Where a check's state lies. */
class Found {
  binding: Binding | undefined = undefined;
  cells: Float64Array = new Float64Array();
  offset = 0;

  /** Looks for the state of a key by its hash. */
  find(binding: Binding, low: number, high: number): boolean {
    const highFor = binding.highFor(high);
    const segment = binding.table.segmentOf(highFor);
    const offset = segment.find(binding.lowFor(low), highFor);
    this.binding = binding;
    this.cells = segment.cells;
    this.offset = offset;
    return offset >= 0;
  }
}

const tooMany: readonly Binding[] = new Array<Binding>(most + 1);

/** What this store knows of a rule's checks. */
class BoundChecks {
  readonly by: object;
  readonly bindings: readonly Binding[];

  constructor(by: object, bindings: readonly Binding[]) {
    this.by = by;
    this.bindings = bindings;
  }
}

/** A state of constant size, which any hit may charge. */
function isUsual({ limit }: Binding): boolean {
  return limit.cells > 0 && limit.countsOffences !== true;
}

/** Whether a check has a key and a cost, and no other of its rule before it but such as differ from it in the limit alone. */
function isSound(checks: readonly Check[], at: number): boolean {
  const { rule, key, limit, cost = 1, shadow, id } = checks[at] as Check;
  if (typeof key !== "string" || key === "") return false;
  if (!isCost(cost)) return false;
  for (let i = 0; i < at; i++) {
    const other = checks[i] as Check;
    if (other.rule !== rule) continue;
    const isLike =
      other.key === key && (other.cost ?? 1) === cost && other.shadow === shadow && other.id === id;
    if (!isLike || other.limit.id === limit.id) return false;
  }
  return true;
}
