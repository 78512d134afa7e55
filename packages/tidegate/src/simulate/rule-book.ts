import type { Policy } from "../gate.js";
import { crowdOf } from "../policy/rule-asks.js";
import { Distinct } from "./distinct.js";
import type { RuleReport } from "./rehearsal.js";

/** What one rule did. */
export class RuleRow {
  readonly index: number;
  readonly name: string;
  readonly isShadow: boolean;
  judged = 0;
  refused = 0;
  firstAt = 0;
  lastAt = 0;
  readonly clients: Distinct = new Distinct(2 ** 18);
  /** The number of the request it last judged, and last refused: a rule may speak under two keys. */
  #judgedLast = -1;
  #refusedLast = -1;

  constructor(index: number, name: string, isShadow: boolean) {
    this.index = index;
    this.name = name;
    this.isShadow = isShadow;
  }

  judge(request: number): void {
    if (this.#judgedLast === request) return;
    this.#judgedLast = request;
    this.judged++;
  }

  refuse(request: number, at: number): void {
    if (this.#refusedLast === request) return;
    this.#refusedLast = request;
    if (this.refused === 0) this.firstAt = at;
    this.lastAt = at;
    this.refused++;
  }

  report(): RuleReport {
    const { name, isShadow, judged, refused, firstAt, lastAt } = this;
    return {
      rule: name,
      isShadow,
      judged,
      refused,
      clients: this.clients.count,
      ...(refused > 0 && { firstAt, lastAt }),
      ...(judged === 0 ? { silence: "never-applies" } : refused === 0 && { silence: "never-fires" }),
    };
  }
}

/** Every rule of a policy, found by the name its verdicts bear. */
export interface RuleBook {
  readonly rows: readonly RuleRow[];
  of(name: string): RuleRow | undefined;
}

export function ruleBook({ rules, mode }: Policy): RuleBook {
  const rows = rules.map(
    (rule, index) => new RuleRow(index, rule.name, mode === "shadow" || rule.mode === "shadow"),
  );
  const byName = new Map(
    rows.flatMap((row) => [[row.name, row] as const, [crowdOf(row.name), row] as const]),
  );
  return { rows, of: (name) => byName.get(name) };
}
