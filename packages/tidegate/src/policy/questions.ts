import { isPromised } from "../app-functions.js";
import { type Check, isCost, validateCost } from "../check.js";
import { shown, TidegateError } from "../errors.js";
import type { DecideOptions } from "../gate.js";
import type { HashedKey } from "../key-hash.js";
import type { Subject } from "../subject.js";
import type { Candidate } from "./candidates.js";
import type { Customer } from "./customer.js";
import type { NewcomerCap } from "./newcomers.js";
import type { CompiledPolicy } from "./policy.js";
import type { ReceivedRequest } from "./request.js";
import { countedAlone, crowdOf } from "./rule-asks.js";
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
  /** Asks only whether the key is held: the rule does not apply, but holds its offenders everywhere, or the key counts for its block. */
  readonly isWatch: boolean;
}

/** All that a policy asks about one request. Its methods have no `#`: V8 makes objects of a class with such methods by a slow call, 0.07 µs each. */
export class Questions {
  readonly checks: Check[] = [];
  /** Rule by rule; of a plain policy only if it is to be explained. */
  readonly asked: Question[] = [];
  /** A rule applies that is switched off. */
  isOff = false;
  /** Some rule counts offences or trusts, by checks that are not the client's to see. */
  hasSilentChecks = false;
  /** Some rule is in shadow, or hides its numbers. */
  hasHidden = false;
  /** Some rule has something left to do when the request ends. */
  needsOutcome = false;
  readonly #isNoted: boolean;
  readonly #policy: CompiledPolicy;
  readonly #request: ReceivedRequest;
  readonly #customer: Customer | undefined;
  /** Names the charges of rules that lease. */
  readonly #id: string;

  constructor(
    policy: CompiledPolicy,
    request: ReceivedRequest,
    customer: Customer | undefined,
    id: string,
    isExplained = false,
  ) {
    this.#isNoted = isExplained || !policy.isPlain;
    this.#policy = policy;
    this.#request = request;
    this.#customer = customer;
    this.#id = id;
  }

  /** Asks every rule. `newcomers` says which keys are counted on their own. */
  askAll(newcomers: NewcomerCap | undefined): this {
    const candidates = this.#policy.candidates.of(this.#request.subject);
    const only = this.#request.asked?.rule;
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[i] as Candidate;
      const { rule } = candidate;
      if (only !== undefined && rule.name !== only) continue;
      const applies = candidate.applies ?? this.applies(rule);
      if (!applies && rule.ladder?.isEverywhere !== true) continue;
      if (rule.isOff) {
        this.isOff ||= applies;
        continue;
      }
      const key = rule.keyOf(this.#request);
      if (key === undefined) continue;
      if (applies && !isAdmitted(newcomers, rule, key, this.#request)) this.askCrowd(rule, key);
      else this.ask(rule, key, applies);
    }
    return this;
  }

  private applies({ matches }: Rule): boolean {
    return matches === undefined || matches(this.#request.subject, this.#request.readings);
  }

  private ask(rule: Rule, key: string, applies: boolean): void {
    const from = this.checks.length;
    const isShadow = rule.isShadow || this.#policy.isShadow;
    const levels = applies ? this.levelsOf(rule) : noLevels;
    const cost = this.costOf(rule, levels);
    const trusted = applies ? rule.trust?.keyOf(this.#request) : undefined;
    const counting = {
      as: rule.name,
      key,
      cost,
      // Where trust may spare the request, the rule's word is weighed when the store has said whether it does.
      shadow: isShadow || trusted !== undefined,
      id: this.idFor(rule, levels, cost),
      hashed: rule.isByIp ? this.#request.client : rule.isByCustomer ? this.#customer : undefined,
    };
    for (const level of levels) this.check(counting, level);
    if (!this.#isNoted) return;
    const ladderAt = isShadow || trusted !== undefined ? -1 : this.askLadder(rule, counting);
    const trustAt = trusted === undefined ? -1 : this.askTrust(rule.trust as Trust, trusted);
    const to = this.checks.length;
    this.note({ rule, as: rule.name, key, from, to, ladderAt, trustAt, isShadow, isWatch: !applies });
  }

  /**
   * Beyond its share of new keys an address block is one client more: what it asks is counted for the block too, which
   * bounds how many new keys it makes. Limits that keep what they refuse would be made all the same, so the key itself is
   * not asked about those, and does not come to be held; but held it may be, and where no limit is asked that is.
   */
  private askCrowd(rule: Rule, key: string): void {
    const as = crowdOf(rule.name);
    const from = this.checks.length;
    const isShadow = rule.isShadow || this.#policy.isShadow;
    const levels = this.levelsOf(rule);
    const cost = this.costOf(rule, levels);
    // A retry counts again for the block: two of its clients may choose one id.
    const id = rule.leases ? this.#id : undefined;
    const counting = { as, key: this.#request.client.network, cost, shadow: isShadow, id, hashed: undefined };
    for (const level of levels) this.check(counting, level);
    const to = this.checks.length;
    const own = { ...counting, as: rule.name, key, id: this.idFor(rule, levels, cost) };
    for (const level of levels.filter(countedAlone)) this.check(own, level);
    const isUnasked = this.checks.length === to;
    const ladderAt = isUnasked ? this.askLadder(rule, own) : -1;
    const plain = { ladderAt: -1, trustAt: -1, isShadow, isWatch: false };
    this.note({ rule, as, key: counting.key, from, to, ...plain });
    const beside = { rule, as: rule.name, key, from: to, to: this.checks.length };
    this.note({ ...beside, ...plain, ladderAt, isWatch: isUnasked });
  }

  private note(question: Question): void {
    const { rule, from, to, ladderAt, trustAt, isShadow, isWatch } = question;
    if (to === from || !this.#isNoted) return;
    this.asked.push(question);
    if (ladderAt >= 0 || trustAt >= 0) this.hasSilentChecks = true;
    if (isShadow || !rule.isExposed) this.hasHidden = true;
    if (!isWatch && needsOutcome(rule)) this.needsOutcome = true;
  }

  private levelsOf(rule: Rule): readonly Level[] {
    return rule.levels ?? this.#policy.tiers.of(this.#customer);
  }

  /** What can not be charged to all of them weighs 1: a request must not pass by a rule for its odd weight. */
  private costOf({ cost }: Rule, levels: readonly Level[]): number {
    const asked =
      this.#request.asked?.cost ??
      (typeof cost === "number" ? cost : usableCost(cost, this.#request.subject));
    return asked === 1 || canCharge(levels, asked) ? asked : 1;
  }

  /** The caller's, where all levels take one; a rule that leases needs one in any case. */
  private idFor({ leases }: Rule, levels: readonly Level[], cost: number): string | undefined {
    const id = this.#request.asked?.id;
    if (leases) return id ?? this.#id;
    return id !== undefined && canCharge(levels, cost, id) ? id : undefined;
  }

  private askLadder(rule: Rule, counting: Counting): number {
    if (rule.ladder === undefined) return -1;
    return this.check(counting, { name: rule.name, limit: rule.ladder.limit, tier: undefined });
  }

  private askTrust({ rule }: Trust, key: string): number {
    return this.checks.push({ rule, key, limit: trustMark, shadow: true }) - 1;
  }

  /** Answers where it stands. */
  private check({ as, key, cost, shadow, id, hashed }: Counting, level: Level): number {
    const { limit, name, tier } = level;
    return this.checks.push({ rule: as, key, limit, cost, shadow, name, tier, id, hashed }) - 1;
  }
}

/** What a rule's checks have in common. */
interface Counting {
  /** The rule's name, or its crowd's. */
  readonly as: string;
  readonly key: string;
  readonly cost: number;
  readonly shadow: boolean;
  readonly id: string | undefined;
  readonly hashed: HashedKey | undefined;
}

const noLevels: readonly Level[] = [];

/** Whether a key is counted on its own: an IPv4 block has few addresses, so keys made of them need no watching. */
export function isAdmitted(
  newcomers: NewcomerCap | undefined,
  { isForgeable }: Rule,
  key: string,
  { client, at }: ReceivedRequest,
): boolean {
  if (newcomers === undefined || (!isForgeable && !client.isV6)) return true;
  return newcomers.admit(client.network, key, at);
}

function canCharge(levels: readonly Level[], cost: number, id?: string): boolean {
  try {
    for (const { limit } of levels) limit.ledger?.validate?.(cost, id);
    return true;
  } catch {
    return false;
  }
}

/** The app's own function may answer anything, and throw; what is no cost weighs 1. */
function usableCost(costOf: (subject: Subject) => unknown, subject: Subject): number {
  try {
    const cost = costOf(subject);
    if (isCost(cost)) return cost;
    isPromised(cost);
    return 1;
  } catch {
    return 1;
  }
}

/** A rule that is not there would refuse nobody, so asking for it is an error. */
export function validateAsked({ rule, cost, id }: DecideOptions, { rules }: CompiledPolicy): void {
  if (cost !== undefined) validateCost(cost);
  if (id !== undefined && (typeof id !== "string" || id === "")) {
    throw new TypeError(`id: ${shown(id)} can not name a charge. Give a non-empty string.`);
  }
  if (rule === undefined || rules.some(({ name }) => name === rule)) return;
  throw new TidegateError(
    "TG_RULE_UNKNOWN",
    `There is no rule ${shown(rule)}.`,
    "Ask for one of the policy's by its name, or leave rule out to ask them all.",
  );
}
