import type { Charge } from "../../check.js";
import { costOf } from "../../check.js";
import { type Duration, parseDuration, parseRate, type Rate, type RateText } from "../../duration.js";
import { ConfigError, shown } from "../../errors.js";
import {
  exceeds,
  type Limit,
  parseAmount,
  type Reading,
  type Ruling,
  rejectUnknownOptions,
} from "../../limit.js";
import { soonest, wholeLeft } from "../soonest.js";

export type TokenBucketOptions = {
  /** How many tokens the bucket holds: what passes at once after a rest. 0 refuses everything. */
  burst: number;
} & (
  | {
      /** How fast tokens come back, e.g. `"10 per second"`. */
      rate: RateText;
      per?: never;
    }
  | {
      /** So many tokens come back `per` duration. */
      rate: number;
      per: Duration;
    }
);

/** Whole sums are exact; this much more is still the burst when the sum has a fraction. As in `exceeds`. */
const tolerance = 1 + 1e-9;
/** Ten years: every state a store keeps has an end. */
const longestMs = 3_650 * 86_400_000;

/**
 * A bucket of `burst` tokens, refilled steadily at `rate`: GCRA. A call takes its cost in tokens or is refused.
 * Worst-case burst: `burst` at once; burst + rate · d in any stretch of d.
 * State: the tokens in use and the time of that, 16 bytes. Refused calls cost nothing.
 *
 * `tokenBucket({ rate: "10 per second", burst: 20 })`: 20 calls pass at once, the 21st may be retried after 100 ms, and
 * 2 s of silence fill the bucket. `delayMs` is how long a leaky bucket would keep a call waiting: nginx's `rate=10r/s
 * burst=19` with `nodelay` is this bucket; without it wait `delayMs`, with `delay=8` wait max(0, delayMs - 800).
 */
export function tokenBucket(options: TokenBucketOptions): Limit {
  rejectUnknownOptions(options, ["rate", "per", "burst"], "tokenBucket");
  const { amount: rate, perMs } = parseRefill(options);
  const burst = parseAmount(options.burst, "tokenBucket.burst");
  if ((burst * perMs) / rate > longestMs) {
    throw new ConfigError(
      "TG_LIMIT",
      "tokenBucket.burst",
      `${shown(burst)} tokens would take more than ten years to come back.`,
      "Lower burst or raise rate.",
    );
  }

  /** Tokens in use at `now`. An entry's time never runs backwards. */
  function levelAt(cells: Float64Array, at: number, now: number): number {
    const level = cells[at] as number;
    const elapsed = now - (cells[at + 1] as number);
    return elapsed > 0 ? Math.max(0, level - (elapsed * rate) / perMs) : level;
  }

  function drainMs(tokens: number): number {
    return (tokens * perMs) / rate;
  }

  return Object.freeze({
    kind: "token-bucket",
    id: `tb:${perMs}`,
    cells: 2,
    args: [burst, rate, perMs],
    limit: burst,
    windowMs: drainMs(burst),
    refusedWeight: 0,

    step(cells: Float64Array, at: number, now: number, cost: number, ruling: Ruling): void {
      const level = levelAt(cells, at, now);
      const last = Math.max(now, cells[at + 1] as number);
      ruling.allowed = !exceeds(level + cost, burst);
      ruling.delayMs = drainMs(level);
      ruling.ifAllowed[0] = level + cost;
      ruling.ifRefused[0] = level;
      ruling.ifAllowed[1] = ruling.ifRefused[1] = last;
    },

    read(cells: Float64Array, at: number, now: number, cost: number, reading: Reading): void {
      const level = levelAt(cells, at, now);
      // A clock set back must first catch up.
      const lagMs = Math.max(0, (cells[at + 1] as number) - now);
      reading.remaining = wholeLeft(level, burst);
      reading.resetAfterMs = level > 0 ? drainMs(level) + lagMs : 0;
      reading.expiresAt = now + Math.min(longestMs, Math.max(1, reading.resetAfterMs));
      if (exceeds(cost, burst)) reading.retryAfterMs = Number.POSITIVE_INFINITY;
      else if (!exceeds(level + cost, burst)) reading.retryAfterMs = 0;
      else
        reading.retryAfterMs = soonest(
          drainMs(level + cost - burst * tolerance) + lagMs,
          drainMs(level + cost - burst) + lagMs,
          (waitMs) => !exceeds(levelAt(cells, at, now + waitMs) + cost, burst),
        );
    },

    /** First in, first out: what has drained since is the oldest, so only the rest of this charge comes back. */
    refund(cells: Float64Array, at: number, now: number, charge: Charge): void {
      const level = levelAt(cells, at, now);
      const last = Math.max(now, cells[at + 1] as number);
      const resetAfterMs = charge.resetAfterMs ?? Number.POSITIVE_INFINITY;
      const undrained = ((resetAfterMs - (last - (charge.at ?? now))) * rate) / perMs;
      cells[at] = Math.max(0, level - Math.min(costOf(charge), Math.max(0, undrained)));
      cells[at + 1] = last;
    },

    pressure(cells: Float64Array, at: number, now: number): number {
      const level = levelAt(cells, at, now);
      if (level === 0) return 0;
      return burst === 0 ? 1 : level / burst;
    },
  });
}

function parseRefill({ rate, per }: TokenBucketOptions): Rate {
  if (typeof rate === "number" && per === undefined) {
    throw new ConfigError(
      "TG_RATE",
      "tokenBucket.per",
      `a rate of ${shown(rate)} says not per what.`,
      'Write rate: "10 per second", or rate: 10 with per: "1s".',
    );
  }
  if (typeof rate !== "number" && per !== undefined) {
    throw new ConfigError(
      "TG_RATE",
      "tokenBucket.per",
      `${shown(per)} says per what a second time.`,
      'Write rate: "10 per second", or rate: 10 with per: "1s".',
    );
  }
  const parsed =
    typeof rate === "number"
      ? { amount: rate, perMs: parseDuration(per as Duration, "tokenBucket.per") }
      : parseRate(rate, "tokenBucket.rate");
  if (!(parsed.amount > 0) || parsed.amount > Number.MAX_SAFE_INTEGER) {
    throw new ConfigError(
      "TG_RATE",
      "tokenBucket.rate",
      `${shown(rate)} is not a rate at which tokens come back.`,
      `Write a number above 0 and up to ${Number.MAX_SAFE_INTEGER}; to refuse everything use burst: 0.`,
    );
  }
  return parsed;
}
