import type { ListEntry } from "./directory.js";
import type { Outcome } from "./subject.js";

/** The answer to one check. */
export interface Verdict {
  rule: string;
  /** The level that spoke, as headers and events show it: rule and window in seconds, e.g. `req/ip/300`. */
  name: string;
  key: string;
  tier?: string;
  allowed: boolean;
  /** True when the check was judged and reported but could refuse nobody. */
  shadow: boolean;
  cost: number;
  /** The most that fits into a fresh window. */
  limit: number;
  windowMs: number;
  remaining: number;
  /** Until the whole quota is back. */
  resetAfterMs: number;
  /** 0 when allowed; else until a call of the same cost would pass if nothing else is sent, rounded up to a millisecond; Infinity = never. */
  retryAfterMs: number;
  /** Token bucket: how long a leaky bucket would keep this call waiting. */
  delayMs?: number;
  /** EARRRL: requests per second, as they stood before this hit. */
  estimate?: number;
  /** The key is refused until this time of the store's clock, whatever its limits say. */
  heldUntil?: number;
  /** This very hit made the hold begin. */
  crossed?: boolean;
  /** The caller's id for this charge (log entry, lease). */
  id?: string;
  /** The store's clock, in milliseconds. */
  at: number;
  source: Source;
}

/** Who counted: the store, a slice taken from it in advance, this process alone, or nobody. */
export type Source = "store" | "slice" | "local" | "none";

export type Reason =
  | "within-limits"
  | "over-limit"
  | "held"
  | "safelist"
  | "blocklist"
  | "no-rule"
  | "off"
  | "degraded";

/** The answer to one request. Its `reason` tells what else is there. */
export type Decision = AnyDecision & ByReason;

/** Where a limit or a hold refused, its verdict says so. */
type ByReason =
  | { readonly reason: "over-limit" | "held"; readonly allowed: false; readonly verdict: Verdict }
  | { readonly reason: "within-limits" | "safelist" | "no-rule" | "off"; readonly allowed: true }
  | { readonly reason: "blocklist" | "degraded" };

/** What decisions have in common, whatever their reason. */
export interface AnyDecision {
  /** In the refusal's body and the log. */
  readonly id: string;
  readonly allowed: boolean;
  readonly reason: Reason;
  /** The one that speaks: refused the longest wait, allowed the smallest share left; never a shadow one. */
  readonly verdict?: Verdict;
  readonly verdicts: readonly Verdict[];
  readonly source: Source;
  /** The list entry that decided, when a list did. */
  readonly listed?: ListEntry;
  /** How long the request was kept waiting by rules that delay. */
  readonly delayedMs: number;
  /** Verdicts that may be shown to the client: none of a rule with `expose: false`. */
  readonly exposed: readonly Verdict[];
  /** Says how the request ended, once: charges that turn out not to count are given back, leases released. Further calls do nothing. */
  finish(outcome?: Outcome): Promise<void>;
}

/** Which of a request's verdicts speaks: when refused the longest wait, when allowed the smallest share left; never a shadow one. */
export function spokesman(verdicts: readonly Verdict[]): Verdict | undefined {
  let spoken: Verdict | undefined;
  for (let i = 0; i < verdicts.length; i++) {
    const verdict = verdicts[i] as Verdict;
    if (!verdict.shadow && (spoken === undefined || speaksLouder(verdict, spoken))) spoken = verdict;
  }
  return spoken;
}

function speaksLouder(a: Verdict, b: Verdict): boolean {
  if (a.allowed !== b.allowed) return !a.allowed;
  return a.allowed ? a.remaining * b.limit < b.remaining * a.limit : a.retryAfterMs > b.retryAfterMs;
}
