import type { Check, KeylessCheck } from "./check.js";
import type { HashedKey } from "./key-hash.js";

/** One level of a rule, asked about any key: at a cost of 1, in earnest. */
export interface LevelCheck extends KeylessCheck {
  readonly name: string;
}

/** What a rule, or one of its tiers, asks about each key. Made with the policy, so that a store finds out about it once. */
export class RuleChecks {
  readonly rule: string;
  readonly levels: readonly LevelCheck[];
  /** What the store that is asked has found out, noted as its own. */
  found: { readonly by: object } | undefined = undefined;

  constructor(rule: string, levels: readonly LevelCheck[]) {
    this.rule = rule;
    this.levels = levels;
  }
}

/**
 * What a policy asks about one request: for each rule a key. A gate writes all its requests into the same one, so that most
 * decisions leave nothing behind but their answer; once a request is judged it says nothing any more.
 */
export class Docket {
  count = 0;
  readonly asked: RuleChecks[];
  readonly keys: string[];
  /** The keys' hashes, where they are at hand. */
  readonly hashed: (HashedKey | undefined)[] = [];

  constructor(asked: RuleChecks[] = [], keys: string[] = []) {
    this.asked = asked;
    this.keys = keys;
  }

  add(asked: RuleChecks, key: string, hashed: HashedKey | undefined): void {
    if (asked.levels.length === 0) return;
    const at = this.count++;
    this.asked[at] = asked;
    this.keys[at] = key;
    this.hashed[at] = hashed;
  }

  /** A copy that still says it when the gate has gone on to other requests. */
  kept(): Docket {
    const { count } = this;
    const kept = new Docket(this.asked.slice(0, count), this.keys.slice(0, count));
    kept.count = count;
    return kept;
  }

  /** The same one by one, to be kept. */
  checks(): Check[] {
    const checks: Check[] = [];
    for (let i = 0; i < this.count; i++) {
      const key = this.keys[i] as string;
      const hashed = this.hashed[i];
      for (const { rule, limit, name, tier } of (this.asked[i] as RuleChecks).levels)
        checks.push({ rule, key, limit, cost: 1, shadow: false, name, tier, id: undefined, hashed });
    }
    return checks;
  }
}
