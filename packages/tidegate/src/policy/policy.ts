import { mostChecks } from "../check.js";
import type { ListName } from "../directory.js";
import { ConfigError, shown } from "../errors.js";
import type { Policy, Warning } from "../gate.js";
import { type Limit, rejectUnknownOptions } from "../limit.js";
import { isLeaseLimit } from "../limiter.js";
import { advice } from "./advice.js";
import { Candidates } from "./candidates.js";
import { blockText, parseBlock } from "./identity/address.js";
import { type AddressSet, addressSet } from "./lists/address-set.js";
import { countedAlone } from "./rule-asks.js";
import { compileRules, isPlain, type Rule, type RuleTerms } from "./rules.js";
import { compileTiers, mostOverrides, type Tiers } from "./tiers.js";

/** A policy ready to judge. It never changes: `update` puts another in its place. */
export interface CompiledPolicy {
  readonly source: Policy;
  readonly isOff: boolean;
  readonly isShadow: boolean;
  readonly rules: readonly Rule[];
  readonly candidates: Candidates;
  readonly tiers: Tiers;
  readonly usesTiers: boolean;
  /** Some rule keeps requests waiting. */
  readonly delays: boolean;
  /** All its rules do is count and refuse: once a request's verdicts are there, nothing else of it matters. */
  readonly isPlain: boolean;
  /** Plain, with no rule off, and every request weighs 1. */
  readonly isBrief: boolean;
  readonly safelist: AddressSet;
  readonly blocklist: AddressSet;
}

export const policyOptions: readonly string[] = [
  "mode",
  "rules",
  "tiers",
  "defaultTier",
  "safelist",
  "blocklist",
];

export interface PolicyTerms extends Omit<RuleTerms, "tiersLease"> {
  readonly warn: (warning: Warning) => void;
  /** Whether a key beyond its block's share of new ones is counted for the block too. */
  readonly capsNewKeys: boolean;
  /** Throws for a limit the store can not keep. */
  readonly accept: (limit: Limit) => void;
}

export function compilePolicy(policy: Policy, terms: PolicyTerms): CompiledPolicy {
  const { mode = "enforce" } = policy;
  if (!["enforce", "shadow", "off"].includes(mode)) {
    throw new ConfigError(
      "TG_CHOICE",
      "mode",
      `${shown(mode)} is not a mode.`,
      'Use "enforce", "shadow" or "off".',
    );
  }
  const tiers = compileTiers({
    tiers: policy.tiers,
    defaultTier: policy.defaultTier,
    onUnknown: (tier) =>
      terms.warn({
        code: "TG_TIER_UNKNOWN",
        message: `A customer's tier on record is ${shown(tier)}, which does not exist.`,
        help: "The default tier holds for such customers. Name the tier in the policy, or correct the record.",
      }),
    onManyOverrides: (customer) =>
      terms.warn({
        code: "TG_OVERRIDE",
        message: `Customer ${shown(customer)} has more limits of its own on record than the ${mostOverrides} there may be.`,
        help: "Those that allow the least in the long run hold. Remove the others from the record.",
      }),
  });
  const tiersLease = tiers.all.some(isLeaseLimit);
  const rules = compileRules(policy.rules, { ...terms, tiersLease });
  const usesTiers = rules.some(({ levels }) => levels === undefined);
  if (usesTiers && tiers.names.length === 0) throw noTiers(rules);
  for (const limit of tiers.all) {
    terms.accept(limit);
    if (tiersLease) limit.ledger?.validate?.(1, "lease");
  }
  validateSize(rules, tiers, terms.capsNewKeys);
  for (const { levels, ladder } of rules) {
    for (const { limit } of levels ?? []) terms.accept(limit);
    if (ladder !== undefined) terms.accept(ladder.limit);
  }
  const isAllPlain = mode === "enforce" && rules.every(isPlain);
  const compiled: CompiledPolicy = {
    source: sourceOf(policy),
    isOff: mode === "off",
    isShadow: mode === "shadow",
    rules,
    candidates: new Candidates(rules),
    tiers,
    usesTiers,
    delays: rules.some(({ maxDelayMs }) => maxDelayMs > 0),
    isPlain: isAllPlain,
    isBrief: isAllPlain && rules.every(({ cost, isOff }) => cost === 1 && !isOff),
    safelist: setOf(policy.safelist, "safelist"),
    blocklist: setOf(policy.blocklist, "blocklist"),
  };
  for (const warning of advice(compiled)) terms.warn(warning);
  return compiled;
}

/** The policy alone, of options that may say more. */
function sourceOf(policy: Policy): Policy {
  const own = Object.entries(policy).filter(([name]) => policyOptions.includes(name));
  return Object.fromEntries(own) as unknown as Policy;
}

/** One decision asks about so many limits at most, and a crowd is asked about beside the client itself: of any rule, for IPv6 clients have addresses to spare. */
function validateSize(rules: readonly Rule[], { longest }: Tiers, capsNewKeys: boolean): void {
  let checks = 0;
  for (const { levels, ladder, trust } of rules) {
    const own = levels?.length ?? Math.max(longest, mostOverrides);
    const beside = capsNewKeys ? (levels?.filter(countedAlone).length ?? own) : 0;
    checks += own + beside + (ladder ? 1 : 0) + (trust ? 1 : 0);
  }
  if (checks <= mostChecks) return;
  throw new ConfigError(
    "TG_POLICY_LARGE",
    "rules",
    `one request could raise ${checks} questions, and ${mostChecks} are the most.`,
    `Use fewer rules or limits: a rule by tier counts as ${mostOverrides} limits or more, and most limits ask twice unless newKeysPerSecond is false.`,
  );
}

export function validatePolicyOptions(policy: Policy): void {
  rejectUnknownOptions(policy, policyOptions, "policy");
}

function setOf(addresses: readonly string[] = [], path: ListName): AddressSet {
  if (!Array.isArray(addresses)) {
    throw new ConfigError(
      "TG_LIST_ADDRESS",
      path,
      `${shown(addresses)} is not a list.`,
      'Write a list such as ["10.0.0.0/8"].',
    );
  }
  const set = addressSet();
  addresses.forEach((text, i) => {
    const block = parseBlock(text);
    if (block === undefined) throw notAnAddress(text, `${path}[${i}]`);
    if (block.prefix === 0) throw isEveryone(text, path, `${path}[${i}]`);
    set.add(block, { address: blockText(block.address, block.prefix), why: "in the policy" });
  });
  return set;
}

export function notAnAddress(text: unknown, path: string): ConfigError {
  return new ConfigError(
    "TG_LIST_ADDRESS",
    path,
    `${shown(text)} is not an address.`,
    'Write an address or a block, e.g. "203.0.113.7", "10.0.0.0/8" or "2001:db8::/32".',
  );
}

export function isEveryone(text: string, list: ListName, path: string): ConfigError {
  return new ConfigError(
    "TG_LIST_EVERYONE",
    path,
    `${shown(text)} is everyone.`,
    list === "safelist"
      ? 'To let everyone pass set the policy\'s mode to "off".'
      : "A list names some. To refuse everyone stop what answers them.",
  );
}

function noTiers(rules: readonly Rule[]): ConfigError {
  const at = rules.findIndex(({ levels }) => levels === undefined);
  return new ConfigError(
    "TG_TIER_UNKNOWN",
    `rules[${at}] (${shown(rules[at]?.name)}).limits`,
    "there are no tiers.",
    'Name them: tiers: { free: ["100 per hour"] }.',
  );
}
