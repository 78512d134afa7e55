import type { Check } from "../check.js";
import type { CustomerRecord } from "../directory.js";
import type { Subject } from "../subject.js";
import type { NewcomerCap } from "./newcomers.js";
import type { CompiledPolicy } from "./policy.js";
import type { ReceivedRequest } from "./request.js";
import { needsOutcome, type Rule } from "./rules.js";
import type { Level } from "./tiers.js";
import { type Trust, trustMark } from "./trust.js";

/** What one rule asks about one request: its checks stand in the list from `from` to before `to`. */
export interface Question {
  readonly rule: Rule;
  /** What it is counted as: the rule's name, or its crowd's. */
  readonly as: string;
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
  /** Some rule counts offences or trusts, by checks that are not the client's to see. */
  hasSilentChecks = false;
  /** Some rule is in shadow, or hides its numbers. */
  hasHidden = false;
  /** Some rule has something left to do when the request ends. */
  needsOutcome = false;
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
      if (key === undefined) continue;
      if (newcomers !== undefined && applies && !this.#isAdmitted(newcomers, rule, key))
        this.#askCrowd(rule, key);
      else this.#ask(rule, key, applies);
    }
    return this;
  }

  #isAdmitted(newcomers: NewcomerCap, { isForgeable }: Rule, key: string): boolean {
    const { client, at } = this.#request;
    // An IPv4 block has few addresses, so keys made of them need no watching.
    if (!isForgeable && client.address?.version !== 6) return true;
    return newcomers.admit(client.network, key, at);
  }

  #applies({ matches }: Rule): boolean {
    return matches === undefined || matches(this.#request.subject, this.#request.readings);
  }

  #ask(rule: Rule, key: string, applies: boolean): void {
    const from = this.checks.length;
    const isShadow = rule.isShadow || this.#policy.isShadow;
    const levels = applies ? this.#levelsOf(rule) : noLevels;
    const counting = { as: rule.name, key, cost: this.#costOf(rule, levels), shadow: isShadow };
    const trusted = applies ? rule.trust?.keyOf(this.#request) : undefined;
    // Where trust may spare the request, the rule's word is weighed when the store has said whether it does.
    if (trusted !== undefined) counting.shadow = true;
    for (const level of levels) this.#check(rule, counting, level);
    const ladderAt = isShadow || trusted !== undefined ? -1 : this.#askLadder(rule, counting);
    const trustAt = trusted === undefined ? -1 : this.#askTrust(rule.trust as Trust, trusted);
    const to = this.checks.length;
    this.#note({ rule, as: rule.name, key, from, to, ladderAt, trustAt, isShadow, isWatch: !applies });
  }

  /**
   * Beyond its share of new keys an address block is one client more: what it asks is counted for the block too, which
   * bounds how many new keys it makes. Limits that keep what they refuse would be made all the same, so the key itself is
   * not asked about those, nor held.
   */
  #askCrowd(rule: Rule, key: string): void {
    const as = crowdOf(rule.name);
    const from = this.checks.length;
    const isShadow = rule.isShadow || this.#policy.isShadow;
    const levels = this.#levelsOf(rule);
    const cost = this.#costOf(rule, levels);
    const counting = { as, key: this.#request.client.network, cost, shadow: isShadow };
    for (const level of levels) this.#check(rule, counting, level);
    const to = this.checks.length;
    const own = { ...counting, as: rule.name, key };
    for (const level of levels) if (level.limit.refusedWeight === 0) this.#check(rule, own, level);
    const plain = { ladderAt: -1, trustAt: -1, isShadow, isWatch: false };
    this.#note({ rule, as, key: counting.key, from, to, ...plain });
    this.#note({ rule, as: rule.name, key, from: to, to: this.checks.length, ...plain });
  }

  #note(question: Question): void {
    const { rule, from, to, ladderAt, trustAt, isShadow, isWatch } = question;
    if (to === from) return;
    this.asked.push(question);
    if (ladderAt >= 0 || trustAt >= 0) this.hasSilentChecks = true;
    if (isShadow || !rule.isExposed) this.hasHidden = true;
    if (!isWatch && needsOutcome(rule)) this.needsOutcome = true;
  }

  #levelsOf(rule: Rule): readonly Level[] {
    return rule.levels ?? this.#policy.tiers.of(this.#record);
  }

  /** What can not be charged to all of them weighs 1: a request must not pass by a rule for its odd weight. */
  #costOf({ cost }: Rule, levels: readonly Level[]): number {
    const asked = typeof cost === "number" ? cost : usableCost(cost, this.#request.subject);
    return asked === 1 || canCharge(levels, asked) ? asked : 1;
  }

  #askLadder(rule: Rule, counting: Counting): number {
    if (rule.ladder === undefined) return -1;
    return this.#check(rule, counting, { name: rule.name, limit: rule.ladder.limit, tier: undefined });
  }

  #askTrust({ rule }: Trust, key: string): number {
    return this.checks.push({ rule, key, limit: trustMark, shadow: true }) - 1;
  }

  /** Answers where it stands. */
  #check(rule: Rule, { as, key, cost, shadow }: Counting, level: Level): number {
    const check: { -readonly [Name in keyof Check]: Check[Name] } = {
      rule: as,
      key,
      limit: level.limit,
      cost,
      shadow,
      name: level.name,
    };
    if (level.tier !== undefined) check.tier = level.tier;
    if (rule.leases) check.id = this.#id;
    return this.checks.push(check) - 1;
  }
}

/** What a rule's checks have in common. */
interface Counting {
  /** The rule's name, or its crowd's. */
  readonly as: string;
  readonly key: string;
  readonly cost: number;
  readonly shadow: boolean;
}

const noLevels: readonly Level[] = [];

/** Under which name a rule counts what an address block brings beyond its share. */
export function crowdOf(rule: string): string {
  return `${rule} crowd`;
}

function canCharge(levels: readonly Level[], cost: number): boolean {
  try {
    for (const { limit } of levels) limit.ledger?.validate?.(cost, undefined);
    return true;
  } catch {
    return false;
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
