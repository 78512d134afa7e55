import type { Charge } from "../../check.js";
import { costOf } from "../../check.js";
import { type Duration, parseDuration } from "../../duration.js";
import {
  exceeds,
  type Limit,
  parseAmount,
  type Reading,
  type Ruling,
  rejectUnknownOptions,
} from "../../limit.js";
import { soonest, wholeLeft } from "../soonest.js";

export interface SlidingCounterOptions {
  /** The most that may count at any time. */
  limit: number;
  window: Duration;
}

/** Whole sums are exact; this much more is still the limit when the sum has a fraction. As in `exceeds`. */
const tolerance = 1 + 1e-9;

/**
 * So many per sliding window, estimated from two counters: used = current + previous · (1 - elapsed / window), taking
 * the previous window's calls as evenly spread. Windows begin at multiples of the window since 1970.
 * Worst-case burst: limit at once; limit · (1 + d / window) in any stretch of d up to a window, so just under twice the
 * limit in a window's length. State: the window's start and two counts, 24 bytes. Refused calls cost nothing.
 *
 * `slidingCounter({ limit: 100, window: "1m" })`: 80 calls in the last minute, 30 so far in this one, 15 s into it: used
 * is 30 + 80 · 0.75 = 90, so 10 are left.
 */
export function slidingCounter(options: SlidingCounterOptions): Limit {
  rejectUnknownOptions(options, ["limit", "window"], "slidingCounter");
  const limit = parseAmount(options.limit, "slidingCounter.limit");
  const windowMs = parseDuration(options.window, "slidingCounter.window");

  /** The start of the window `now` is in. An entry's time never runs backwards, so it is never before `start`. */
  function startAt(start: number, now: number): number {
    if (now < start + windowMs) return start;
    return now < start + 2 * windowMs ? start + windowMs : Math.floor(now / windowMs) * windowMs;
  }

  function currentAt(cells: Float64Array, at: number, start: number): number {
    return start === cells[at] ? (cells[at + 1] as number) : 0;
  }

  function previousAt(cells: Float64Array, at: number, start: number): number {
    const known = cells[at] as number;
    if (start === known) return cells[at + 2] as number;
    return start === known + windowMs ? (cells[at + 1] as number) : 0;
  }

  /** Multiplied before it is divided, so that whole numbers stay whole. */
  function weigh(current: number, previous: number, start: number, now: number): number {
    return current + (previous * (windowMs - Math.max(0, now - start))) / windowMs;
  }

  function usedAt(cells: Float64Array, at: number, now: number): number {
    const start = startAt(cells[at] as number, now);
    return weigh(currentAt(cells, at, start), previousAt(cells, at, start), start, now);
  }

  /** When what counts has fallen to `level`: while the previous window fades, or in the next while this one does. */
  function fallsTo(level: number, current: number, previous: number, start: number): number {
    const room = level - current;
    return room >= 0
      ? start + windowMs - (windowMs * room) / previous
      : start + 2 * windowMs - (windowMs * Math.max(0, level)) / current;
  }

  return Object.freeze({
    kind: "sliding-counter",
    id: `sc:${windowMs}`,
    cells: 3,
    args: [limit, windowMs],
    limit,
    windowMs,
    refusedWeight: 0,

    step(cells: Float64Array, at: number, now: number, cost: number, ruling: Ruling): void {
      const start = startAt(cells[at] as number, now);
      const current = currentAt(cells, at, start);
      const previous = previousAt(cells, at, start);
      ruling.allowed = !exceeds(weigh(current, previous, start, now) + cost, limit);
      ruling.ifAllowed[0] = ruling.ifRefused[0] = start;
      ruling.ifAllowed[1] = current + cost;
      ruling.ifRefused[1] = current;
      ruling.ifAllowed[2] = ruling.ifRefused[2] = previous;
    },

    read(cells: Float64Array, at: number, now: number, cost: number, reading: Reading): void {
      const start = startAt(cells[at] as number, now);
      const current = currentAt(cells, at, start);
      const previous = previousAt(cells, at, start);
      const used = weigh(current, previous, start, now);
      const ends = current > 0 ? start + 2 * windowMs : previous > 0 ? start + windowMs : now;
      reading.remaining = wholeLeft(used, limit);
      reading.resetAfterMs = Math.max(0, ends - now);
      reading.expiresAt = ends;
      if (exceeds(cost, limit)) reading.retryAfterMs = Number.POSITIVE_INFINITY;
      else if (!exceeds(used + cost, limit)) reading.retryAfterMs = 0;
      else
        reading.retryAfterMs = soonest(
          fallsTo(limit * tolerance - cost, current, previous, start) - now,
          fallsTo(limit - cost, current, previous, start) - now,
          (waitMs) => !exceeds(usedAt(cells, at, now + waitMs) + cost, limit),
        );
    },

    refund(cells: Float64Array, at: number, now: number, charge: Charge): void {
      const start = startAt(cells[at] as number, now);
      const current = currentAt(cells, at, start);
      const previous = previousAt(cells, at, start);
      const chargedAt = charge.at ?? now;
      const cost = costOf(charge);
      const isCurrent = chargedAt >= start && chargedAt < start + windowMs;
      const isPrevious = chargedAt < start && chargedAt >= start - windowMs;
      cells[at] = start;
      cells[at + 1] = isCurrent ? Math.max(0, current - cost) : current;
      cells[at + 2] = isPrevious ? Math.max(0, previous - cost) : previous;
    },

    pressure(cells: Float64Array, at: number, now: number): number {
      const used = usedAt(cells, at, now);
      if (used === 0) return 0;
      return limit === 0 ? 1 : used / limit;
    },
  });
}
