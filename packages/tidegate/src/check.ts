import type { Source, Verdict } from "./decision.js";
import { ConfigError, shown } from "./errors.js";
import type { HashedKey } from "./key-hash.js";
import type { Limit, Reading, Ruling } from "./limit.js";

/** One thing to be judged: may this key, under this rule, spend this cost against this limit? */
export interface Check {
  readonly rule: string;
  readonly key: string;
  readonly limit: Limit;
  /** Default 1. */
  readonly cost?: number;
  /** Judged and reported; refuses nobody. */
  readonly shadow?: boolean;
  /** Names this charge: a log charges it once however often retried, a lease is held under it. */
  readonly id?: string | undefined;
  /** What the verdict is called; default rule and window in seconds. */
  readonly name?: string;
  readonly tier?: string | undefined;
  /** The key's hash, where whoever asks has it at hand. */
  readonly hashed?: HashedKey | undefined;
}

/** A check of any key. */
export type KeylessCheck = Omit<Check, "key" | "hashed">;

/** A charge to be given back. Without `at` it is taken as made just now. */
export interface Charge extends Check {
  readonly at?: number;
  /** The verdict's own `resetAfterMs`: tells a bucket how much of the charge has drained since. */
  readonly resetAfterMs?: number;
  /** Who counted it; default the store. */
  readonly source?: Source;
}

export function costOf(check: KeylessCheck): number {
  return check.cost === undefined ? 1 : check.cost;
}

/** In one decision. */
export const mostChecks = 255;

/** What every store asks of its callers, once per decision. */
export function validateChecks(checks: readonly Check[]): void {
  if (checks.length > mostChecks) {
    throw new ConfigError(
      "TG_CHECKS_MANY",
      "checks",
      `${checks.length} are too many for one decision.`,
      `Ask about ${mostChecks} at most.`,
    );
  }
  for (let i = 0; i < checks.length; i++) {
    const check = checks[i] as Check;
    validateKey(check.key);
    validateCost(costOf(check));
    check.limit.ledger?.validate?.(costOf(check), check.id);
    for (let j = 0; j < i; j++) validatePair(checks, j, i);
  }
}

/** What two checks of one rule and key have to agree in, and in what they have to differ. */
function validatePair(checks: readonly Check[], j: number, i: number): void {
  const other = checks[j] as Check;
  const check = checks[i] as Check;
  if (other.rule !== check.rule || other.key !== check.key) return;
  if (
    costOf(other) !== costOf(check) ||
    other.id !== check.id ||
    (other.shadow === true) !== (check.shadow === true)
  ) {
    throw new ConfigError(
      "TG_CHECKS_DIFFER",
      `checks[${i}]`,
      `rule ${shown(check.rule)} asks about one key with different costs, ids or shadow.`,
      "Checks of one rule and one key must agree in these.",
    );
  }
  if (other.limit.id === check.limit.id) {
    throw new ConfigError(
      "TG_CHECK_TWICE",
      `checks[${i}]`,
      `rule ${shown(check.rule)} judges one key twice by ${shown(check.limit.id)}.`,
      "Give each limit of a rule its own window, or the rules different names.",
    );
  }
}

export function validateKey(key: unknown): void {
  if (typeof key !== "string" || key === "") {
    throw new TypeError(
      `key: ${shown(key)} can not be counted under. Give a non-empty string; any length and any characters will do.`,
    );
  }
}

export function isCost(cost: unknown): cost is number {
  return typeof cost === "number" && cost > 0 && cost <= Number.MAX_SAFE_INTEGER;
}

export function validateCost(cost: unknown): void {
  if (!isCost(cost)) {
    throw new TypeError(
      `cost: ${shown(cost)} is not a cost. Give a number above 0 and up to ${Number.MAX_SAFE_INTEGER}; to look without charging use peek.`,
    );
  }
}

/** Rule names reach headers, logs and store keys. */
export function validateRuleName(name: unknown, path: string): void {
  if (typeof name !== "string" || !/^[\x20-\x7e]{1,64}$/.test(name)) {
    throw new ConfigError(
      "TG_NAME",
      path,
      `${shown(name)} can not be a name.`,
      "Use 1 to 64 printable ASCII characters.",
    );
  }
}

/** Composes a verdict from what the limit found. `reading` is of the state after the hit. */
export function verdictOf(
  check: KeylessCheck,
  key: string,
  ruling: Ruling,
  reading: Reading,
  allowed: boolean,
  now: number,
  heldUntil: number,
  name: string = check.name === undefined ? levelName(check.rule, check.limit) : check.name,
): Verdict {
  const verdict = plainVerdict(check, key, name, reading, now);
  if (!allowed) {
    verdict.allowed = false;
    verdict.retryAfterMs = Math.max(1, reading.retryAfterMs);
  }
  addEstimates(verdict, ruling);
  if (check.id !== undefined) verdict.id = check.id;
  if (heldUntil > now) {
    verdict.heldUntil = heldUntil;
    verdict.retryAfterMs = Math.max(verdict.retryAfterMs, Math.ceil(heldUntil - now));
  }
  return verdict;
}

/** One that allows. Written out in both forms: what is added to an object later lies apart from it, in memory of its own. */
export function plainVerdict(
  { rule, tier, shadow, cost, limit: { limit, windowMs } }: KeylessCheck,
  key: string,
  name: string,
  { remaining, resetAfterMs }: Reading,
  at: number,
): Verdict {
  return tier === undefined
    ? {
        rule,
        name,
        key,
        allowed: true,
        shadow: shadow === true,
        cost: cost === undefined ? 1 : cost,
        limit,
        windowMs,
        remaining,
        resetAfterMs,
        retryAfterMs: 0,
        at,
        source: "store",
      }
    : {
        rule,
        name,
        key,
        tier,
        allowed: true,
        shadow: shadow === true,
        cost: cost === undefined ? 1 : cost,
        limit,
        windowMs,
        remaining,
        resetAfterMs,
        retryAfterMs: 0,
        at,
        source: "store",
      };
}

/** What only some algorithms tell. */
export function addEstimates(verdict: Verdict, { delayMs, estimate }: Ruling): void {
  // biome-ignore lint/suspicious/noSelfCompare: NaN is the one number that is not itself, and this is the hot path
  if (delayMs === delayMs) verdict.delayMs = delayMs;
  // biome-ignore lint/suspicious/noSelfCompare: as above
  if (estimate === estimate) verdict.estimate = estimate;
}

/**
 * Whether the check at this place has an offence to count: another limit of its rule and key refused the hit, in
 * earnest, and the key was not held before.
 */
export function isOffence(
  checks: readonly Check[],
  at: number,
  heldUntil: number,
  now: number,
  allows: (at: number) => boolean,
): boolean {
  const { rule, key, limit, shadow } = checks[at] as Check;
  if (limit.countsOffences !== true || shadow === true || heldUntil > now) return false;
  return checks.some((other, i) => i !== at && other.rule === rule && other.key === key && !allows(i));
}

/** Says in a verdict that this very hit made a hold begin. */
export function markCrossed(verdict: Verdict, heldUntil: number): void {
  verdict.heldUntil = heldUntil;
  verdict.crossed = true;
}

const seconds = new WeakMap<Limit, string>();

/** `req/ip` with a window of 300 s is `req/ip/300`. */
export function levelName(rule: string, limit: Limit): string {
  let suffix = seconds.get(limit);
  if (suffix === undefined) {
    suffix = `/${Number((limit.windowMs / 1000).toPrecision(6))}`;
    seconds.set(limit, suffix);
  }
  return rule + suffix;
}
