import type { Verdict } from "./decision.js";

class Itself {
  constructor(verdict: object) {
    // biome-ignore lint/correctness/noConstructorReturn: so that a class that extends this one puts its private field there
    return verdict;
  }
}

/**
 * Remembers, on a verdict itself, the verdicts given together with it: nobody else sees the field, a copy has none.
 * A WeakMap would do the same and cost as much as the rest of the decision.
 */
export class Companions extends Itself {
  #verdicts: readonly Verdict[];

  private constructor(verdict: Verdict, verdicts: readonly Verdict[]) {
    super(verdict);
    this.#verdicts = verdicts;
  }

  static set(verdict: Verdict, verdicts: readonly Verdict[]): void {
    if (#verdicts in verdict) verdict.#verdicts = verdicts;
    else new Companions(verdict, verdicts);
  }

  static of(verdict: Verdict): readonly Verdict[] | undefined {
    return #verdicts in verdict ? verdict.#verdicts : undefined;
  }
}
