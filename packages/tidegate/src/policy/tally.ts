import type { AnyDecision, Reason, Verdict } from "../decision.js";
import type { Docket, RuleChecks } from "../docket.js";
import type { GateMetrics, RuleMetrics } from "../gate.js";

type Counts = { -readonly [Name in keyof RuleMetrics]: number };

/** Counts decisions. */
export class Tally {
  #allowed = 0;
  #refused = 0;
  #delayed = 0;
  #withoutStore = 0;
  readonly #byReason: Record<Reason, number> = {
    "within-limits": 0,
    "over-limit": 0,
    held: 0,
    safelist: 0,
    blocklist: 0,
    "no-rule": 0,
    off: 0,
    degraded: 0,
  };
  readonly #byRule = new Map<string, Counts>();
  /** The rule that judged first, second and so on when last counted. */
  readonly #lately: { readonly rule: string; readonly counts: Counts }[] = [];

  count({ allowed, reason, verdicts, source, delayedMs }: AnyDecision): void {
    if (allowed) this.#allowed++;
    else this.#refused++;
    if (delayedMs > 0) this.#delayed++;
    if (source !== "store") this.#withoutStore++;
    this.#byReason[reason]++;
    // A rule's verdicts stand together: it judged once and refused once, however many limits it has.
    for (let i = 0, nth = 0; i < verdicts.length; nth++) {
      const { rule } = verdicts[i] as Verdict;
      let refuses = false;
      let refusesInShadow = false;
      for (; i < verdicts.length && (verdicts[i] as Verdict).rule === rule; i++) {
        const { allowed, shadow } = verdicts[i] as Verdict;
        if (!allowed && shadow) refusesInShadow = true;
        else if (!allowed) refuses = true;
      }
      const counts = this.#ofRule(rule, nth);
      counts.judged++;
      if (refuses) counts.refused++;
      else if (refusesInShadow) counts.shadowRefused++;
    }
  }

  /** A decision by a docket all of which allowed. */
  countWithin({ asked, count }: Docket): void {
    this.#allowed++;
    this.#byReason["within-limits"]++;
    for (let nth = 0; nth < count; nth++) this.#ofRule((asked[nth] as RuleChecks).rule, nth).judged++;
  }

  countHeld(rule: string): void {
    this.#find(rule).held++;
  }

  /** Mostly the same rules judge in the same order. */
  #ofRule(rule: string, nth: number): Counts {
    const last = this.#lately[nth];
    if (last !== undefined && last.rule === rule) return last.counts;
    const counts = this.#find(rule);
    this.#lately[nth] = { rule, counts };
    return counts;
  }

  #find(rule: string): Counts {
    let counts = this.#byRule.get(rule);
    if (counts === undefined) {
      counts = { judged: 0, refused: 0, shadowRefused: 0, held: 0 };
      this.#byRule.set(rule, counts);
    }
    return counts;
  }

  snapshot(): Pick<
    GateMetrics,
    "decisions" | "allowed" | "refused" | "delayed" | "withoutStore" | "byReason" | "byRule"
  > {
    return {
      decisions: this.#allowed + this.#refused,
      allowed: this.#allowed,
      refused: this.#refused,
      delayed: this.#delayed,
      withoutStore: this.#withoutStore,
      byReason: { ...this.#byReason },
      byRule: Object.fromEntries([...this.#byRule].map(([rule, counts]) => [rule, { ...counts }])),
    };
  }
}
