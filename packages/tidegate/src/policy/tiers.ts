import { levelName } from "../check.js";
import { ConfigError, shown } from "../errors.js";
import type { Limit } from "../limit.js";
import { type LimitLike, parseLimitList } from "../limiter.js";
import type { Customer } from "./customer.js";
import { KnownLimits } from "./known-limits.js";

/** One limit of a rule, with the name it speaks under. */
export interface Level {
  readonly name: string;
  readonly limit: Limit;
  readonly tier: string | undefined;
}

export function levelsOf(name: string, limits: readonly Limit[], tier?: string): Level[] {
  return limits.map((limit) => ({ name: levelName(name, limit), limit, tier }));
}

export interface Tiers {
  readonly names: readonly string[];
  /** The levels of a customer: its own, or its tier's, or the default tier's. */
  of(customer: Customer | undefined): readonly Level[];
  /** Every limit of every tier. */
  readonly all: readonly Limit[];
  /** How many limits the longest tier has. */
  readonly longest: number;
}

/** What an override's levels are called, in the place of a tier. */
const overrideName = "override";

export interface TierTerms {
  readonly tiers: Readonly<Record<string, readonly LimitLike[]>> | undefined;
  readonly defaultTier: string | undefined;
  /** Told of a tier on record that does not exist. */
  readonly onUnknown: (tier: string) => void;
  /** Told of a customer with more limits of its own on record than one may have. */
  readonly onManyOverrides: (customer: string) => void;
}

export function compileTiers({ tiers = {}, defaultTier, onUnknown, onManyOverrides }: TierTerms): Tiers {
  if (typeof tiers !== "object" || tiers === null || Array.isArray(tiers)) throw notTiers(tiers);
  const byName = new Map<string, readonly Level[]>();
  for (const [name, limits] of Object.entries(tiers)) {
    validateTierName(name);
    byName.set(name, levelsOf(name, parseLimitList(limits, `tiers.${name}`), name));
  }
  const names = [...byName.keys()];
  if (defaultTier !== undefined && !byName.has(defaultTier))
    throw unknownTier(defaultTier, "defaultTier", names);
  const fallback = byName.get(defaultTier ?? names[0] ?? "") ?? [];
  const known = new KnownLimits();

  function overrideOf({ key, record }: Customer): readonly Level[] {
    const usable = [...(record?.limits ?? [])].filter(isUsable);
    if (usable.length > mostOverrides) onManyOverrides(key);
    return levelsOf(
      overrideName,
      strictest(usable).map(([seconds, limit]) => known.of(seconds, limit)),
      overrideName,
    );
  }

  /** Undefined: its tier is unknown. */
  function onRecord(customer: Customer): readonly Level[] | undefined {
    const own = overrideOf(customer);
    if (own.length > 0) return own;
    const { record } = customer;
    return record?.tier === undefined ? fallback : byName.get(record.tier);
  }

  return {
    names,
    longest: Math.max(0, ...[...byName.values()].map((levels) => levels.length)),
    all: [...byName.values()].flatMap((levels) => levels.map(({ limit }) => limit)),
    of(customer) {
      if (customer === undefined) return fallback;
      if (customer.levelsBy === byName) return customer.levels as readonly Level[];
      const levels = onRecord(customer);
      if (levels === undefined) {
        onUnknown(customer.record?.tier as string);
        return fallback;
      }
      customer.levelsBy = byName;
      customer.levels = levels;
      return levels;
    },
  };
}

export const mostOverrides = 12;
const tenYears = 315_360_000;

type Override = readonly [seconds: number, limit: number];

/** As many as a customer may have: those that allow the least in the long run. */
function strictest(overrides: readonly Override[]): readonly Override[] {
  if (overrides.length <= mostOverrides) return overrides;
  const rateOf = ([seconds, limit]: Override) => limit / seconds;
  const kept = overrides.toSorted((one, other) => rateOf(one) - rateOf(other) || one[0] - other[0]);
  return kept.slice(0, mostOverrides);
}

/** A directory may hold anything. */
function isUsable([seconds, limit]: Override): boolean {
  return (
    Number.isInteger(seconds) &&
    seconds >= 1 &&
    seconds <= tenYears &&
    Number.isSafeInteger(limit) &&
    limit >= 0
  );
}

function notTiers(tiers: unknown): ConfigError {
  return new ConfigError(
    "TG_OPTIONS",
    "tiers",
    `${shown(tiers)} does not name tiers.`,
    'Give an object such as { free: ["100 per hour"] }.',
  );
}

function validateTierName(name: string): void {
  if (/^[\x21-\x7e]{1,64}$/.test(name) && name !== overrideName) return;
  throw new ConfigError(
    "TG_TIER_NAME",
    `tiers.${name.slice(0, 64)}`,
    "this can not name a tier.",
    `Use 1 to 64 printable characters without spaces, and not ${shown(overrideName)}.`,
  );
}

export function unknownTier(tier: unknown, path: string, names: readonly string[]): ConfigError {
  return new ConfigError(
    "TG_TIER_UNKNOWN",
    path,
    `there is no tier ${shown(tier)}.`,
    names.length === 0 ? "Name tiers in the policy first." : `Known: ${names.join(", ")}.`,
  );
}
