import type { Check } from "../check.js";
import type { CustomerRecord } from "../directory.js";
import type { Subject } from "../subject.js";
import type { NewcomerCap } from "./newcomers.js";
import type { CompiledPolicy } from "./policy.js";
import type { ReceivedRequest } from "./request.js";
import type { Rule } from "./rules.js";
import type { Level } from "./tiers.js";
import { type Trust, trustMark } from "./trust.js";

/** What one rule asks about one request: its checks stand in the list from `from` to before `to`. */
export interface Question {
  readonly rule: Rule;
  readonly key: string;
  readonly from: number;
  readonly to: number;
  /** Where the rule counts offences, or -1. */
  readonly ladderAt: number;
  /** Where it is asked whether the rule spares this request, or -1. */
  readonly trustAt: number;
  readonly isShadow: boolean;
  /** The rule does not apply, but holds its offenders everywhere. */
  readonly isWatch: boolean;
}

/** All that a policy asks about one request. */
export class Questions {
  readonly checks: Check[] = [];
  readonly asked: Question[] = [];
  /** A rule applies that is switched off. */
  isOff = false;
  readonly #policy: CompiledPolicy;
  readonly #request: ReceivedRequest;
  readonly #record: CustomerRecord | undefined;
  /** Names the charges of rules that lease. */
  readonly #id: string;

  constructor(
    policy: CompiledPolicy,
    request: ReceivedRequest,
    record: CustomerRecord | undefined,
    id: string,
  ) {
    this.#policy = policy;
    this.#request = request;
    this.#record = record;
    this.#id = id;
  }

  /** Asks every rule. `newcomers` says which keys are counted on their own. */
  askAll(newcomers: NewcomerCap | undefined): this {
    const { rules } = this.#policy;
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i] as Rule;
      const applies = this.#applies(rule);
      if (!applies && rule.ladder?.isEverywhere !== true) continue;
      if (rule.isOff) {
        this.isOff ||= applies;
        continue;
      }
      const key = rule.keyOf(this.#request);
      if (key !== undefined) this.#ask(rule, newcomers ? this.#counted(newcomers, rule, key) : key, applies);
    }
    return this;
  }

  /** Beyond a block's share of new keys, its further ones are counted as one. */
  #counted(newcomers: NewcomerCap, { isForgeable }: Rule, key: string): string {
    const { client, at } = this.#request;
    // An IPv4 block has few addresses, so keys made of them need no watching.
    if (!isForgeable && client.address?.version !== 6) return key;
    return newcomers.admit(client.network, key, at) ? key : `crowd of ${client.network}`;
  }

  #applies({ matches }: Rule): boolean {
    return matches === undefined || matches(this.#request.subject, this.#request.readings);
  }

  #ask(rule: Rule, key: string, applies: boolean): void {
    const { checks } = this;
    const from = checks.length;
    const isShadow = rule.isShadow || this.#policy.isShadow;
    const trusted = applies ? rule.trust?.keyOf(this.#request) : undefined;
    const cost = typeof rule.cost === "number" ? rule.cost : usableCost(rule.cost, this.#request.subject);
    if (applies) {
      const levels = rule.levels ?? this.#policy.tiers.of(this.#record);
      // Where trust may spare the request, the rule's word is weighed when the store has said whether it does.
      const shadow = isShadow || trusted !== undefined;
      for (let i = 0; i < levels.length; i++)
        checks.push(this.#check(rule, key, levels[i] as Level, cost, shadow));
    }
    const ladderAt = isShadow || trusted !== undefined ? -1 : this.#askLadder(rule, key, cost);
    const trustAt = trusted === undefined ? -1 : this.#askTrust(rule.trust as Trust, trusted);
    const to = checks.length;
    if (to > from) this.asked.push({ rule, key, from, to, ladderAt, trustAt, isShadow, isWatch: !applies });
  }

  #askLadder(rule: Rule, key: string, cost: number): number {
    if (rule.ladder === undefined) return -1;
    const level = { name: rule.name, limit: rule.ladder.limit, tier: undefined };
    return this.checks.push(this.#check(rule, key, level, cost, false)) - 1;
  }

  #askTrust({ rule }: Trust, key: string): number {
    return this.checks.push({ rule, key, limit: trustMark, shadow: true }) - 1;
  }

  #check(rule: Rule, key: string, level: Level, cost: number, shadow: boolean): Check {
    const check: { -readonly [Name in keyof Check]: Check[Name] } = {
      rule: rule.name,
      key,
      limit: level.limit,
      cost,
      shadow,
      name: level.name,
    };
    if (level.tier !== undefined) check.tier = level.tier;
    if (rule.leases) check.id = this.#id;
    return check;
  }
}

/** The app's own function may answer anything, and throw; what is no cost weighs 1. */
function usableCost(costOf: (subject: Subject) => unknown, subject: Subject): number {
  try {
    const cost = costOf(subject);
    return typeof cost === "number" && cost > 0 && cost <= Number.MAX_SAFE_INTEGER ? cost : 1;
  } catch {
    return 1;
  }
}
