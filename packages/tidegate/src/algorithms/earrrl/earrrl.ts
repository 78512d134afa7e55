import type { Charge } from "../../check.js";
import { costOf } from "../../check.js";
import { type Duration, parseDuration, parseRate, type RateText } from "../../duration.js";
import { ConfigError, shown } from "../../errors.js";
import { type Limit, type Reading, type Ruling, rejectUnknownOptions } from "../../limit.js";
import { soonest } from "../soonest.js";

export interface EarrrlOptions {
  /** Requests per second, or a text such as `"30 per minute"`. */
  rate: number | RateText;
  /** How fast the past is forgotten. Longer: a larger burst passes before it bites. Shorter: a jumpier estimate. */
  halfLife: Duration;
  /** What a refused call weighs, as a share of its cost, 0 to 1. Default 1: whoever keeps flooding stays out. */
  overage?: number;
}

/** Lua's exp and V8's differ in the last bit; this much more than the rate is still the rate. */
const tolerance = 1 + 1e-12;
/** A hit faded to this share is forgotten, sooner only where that much would be more than this share of the rate. */
const negligible = 1e-6;

/**
 * EARRRL, the estimated average recent request rate limiter: refuses while the estimate of a client's recent rate is
 * above `rate`, and counts refused calls too, so a flooding client is held until it calms down.
 * Worst-case burst: floor(rate / lambda) + 1 at once from rest, lambda = ln 2 / halfLife; in any stretch d at most
 * (rate + lambda) · (d + 1 / lambda). State: N and T, 16 bytes. Refused calls count `overage` of their cost.
 *
 * `earrrl({ rate: 0.5, halfLife: "10s" })`: 8 calls pass at once. A client that keeps sending one a second is let in for
 * its first 11 and then refused for as long as it goes on; 10.5 s after it stops, it is let in again. Who sends steadily
 * more than lambda / ln(1 + overage · lambda / rate) a second, a little over rate / overage, is locked out for as long
 * as he does; README.md has what passes below that.
 */
export function earrrl(options: EarrrlOptions): Limit {
  rejectUnknownOptions(options, ["rate", "halfLife", "overage"], "earrrl");
  const rate = parsePerSecond(options.rate);
  const halfLifeMs = parseDuration(options.halfLife, "earrrl.halfLife");
  const overage = parseOverage(options.overage);
  const lambda = Math.LN2 / halfLifeMs;
  const perSecond = lambda * 1000;
  /** So few hits are none, whether a store has dropped them yet or not. It hardly ever depends on the rate, which may change. */
  const forgotten = negligible * Math.min(1, rate / perSecond);

  /** The hits that still weigh at `now`. An entry's time never runs backwards. */
  function decayed(cells: Float64Array, at: number, now: number): number {
    const elapsed = now - (cells[at + 1] as number);
    const hits = elapsed > 0 ? (cells[at] as number) * Math.exp(-lambda * elapsed) : (cells[at] as number);
    // Within a second even a millionth of a call is kept, so that many of them add up.
    return hits > forgotten || elapsed < 1000 ? hits : 0;
  }

  /** Until the estimate has fallen to `level`, from `now`; a clock set back must first catch up. */
  function waitUntil(level: number, estimate: number, lagMs: number): number {
    return estimate > level ? Math.log(estimate / level) / lambda + lagMs : 0;
  }

  return Object.freeze({
    kind: "earrrl",
    id: `ea:${halfLifeMs}`,
    cells: 2,
    args: [rate, lambda, overage, forgotten],
    limit: Math.floor((rate / perSecond) * tolerance) + 1,
    windowMs: 1 / lambda,
    refusedWeight: overage,

    step(cells: Float64Array, at: number, now: number, cost: number, ruling: Ruling): void {
      const hits = decayed(cells, at, now);
      const last = Math.max(now, cells[at + 1] as number);
      const estimate = hits * perSecond;
      ruling.estimate = estimate;
      ruling.allowed = estimate <= rate * tolerance;
      ruling.ifAllowed[0] = hits + cost;
      ruling.ifAllowed[1] = last;
      ruling.ifRefused[0] = hits + overage * cost;
      ruling.ifRefused[1] = last;
    },

    read(cells: Float64Array, at: number, now: number, _cost: number, reading: Reading): void {
      const hits = decayed(cells, at, now);
      const estimate = hits * perSecond;
      const lagMs = Math.max(0, (cells[at + 1] as number) - now);
      const over = estimate > rate * tolerance;
      reading.remaining = over ? 0 : Math.floor((rate / perSecond) * tolerance - hits) + 1;
      reading.resetAfterMs = waitUntil(rate * 0.01, estimate, lagMs);
      reading.retryAfterMs = over
        ? soonest(
            waitUntil(rate * tolerance, estimate, lagMs),
            waitUntil(rate, estimate, lagMs),
            (waitMs) => decayed(cells, at, now + waitMs) * perSecond <= rate * tolerance,
          )
        : 0;
      reading.expiresAt = now + Math.max(1000, waitUntil(forgotten * perSecond, estimate, lagMs));
    },

    refund(cells: Float64Array, at: number, now: number, charge: Charge): void {
      const age = Math.max(0, now - (charge.at ?? now));
      cells[at] = Math.max(0, decayed(cells, at, now) - costOf(charge) * Math.exp(-lambda * age));
      cells[at + 1] = Math.max(now, cells[at + 1] as number);
    },

    pressure(cells: Float64Array, at: number, now: number): number {
      return (decayed(cells, at, now) * perSecond) / rate;
    },
  });
}

function parsePerSecond(rate: number | RateText): number {
  const parsed = typeof rate === "string" ? parseRate(rate, "earrrl.rate") : { amount: rate, perMs: 1000 };
  const perSecond = (parsed.amount * 1000) / parsed.perMs;
  if (typeof perSecond !== "number" || !(perSecond > 0) || perSecond > Number.MAX_SAFE_INTEGER) {
    throw new ConfigError(
      "TG_RATE",
      "earrrl.rate",
      `${shown(rate)} is not a rate.`,
      'Write requests per second above 0, or a text such as "30 per minute".',
    );
  }
  return perSecond;
}

function parseOverage(overage: unknown): number {
  if (overage === undefined) return 1;
  if (typeof overage === "number" && overage >= 0 && overage <= 1) return overage;
  throw new ConfigError(
    "TG_OVERAGE",
    "earrrl.overage",
    `${shown(overage)} is not a share.`,
    "Write a number from 0 (refused calls weigh nothing) to 1.",
  );
}
