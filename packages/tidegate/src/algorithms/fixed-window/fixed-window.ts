import type { Charge } from "../../check.js";
import { costOf } from "../../check.js";
import { type Duration, parseDuration } from "../../duration.js";
import { ConfigError, shown } from "../../errors.js";
import {
  exceeds,
  type Limit,
  parseAmount,
  type Reading,
  type Ruling,
  rejectUnknownOptions,
} from "../../limit.js";

export interface FixedWindowOptions {
  /** The most that passes in one window. */
  limit: number;
  window: Duration;
  /** `"epoch"`: windows start at multiples of the window since 1970, moved by `offset`. `"first-hit"`: with the first hit. */
  align?: "epoch" | "first-hit";
  /** Moves the boundary of epoch-aligned windows: `"-8h"` is not a duration, so a day in UTC-8 is `{ window: "1d", offset: "8h" }`. */
  offset?: Duration | 0;
  /** Refused calls count too. Default false: a refused call costs nothing. */
  countRefused?: boolean;
}

/**
 * So many per window. Worst-case burst: 2N in an instant around a boundary when aligned to the epoch, 2N - 1 from the
 * first hit. State: the window's end and the count, 16 bytes. Refused calls count only with `countRefused`.
 *
 * `fixedWindow({ limit: 300, window: "5m" })`: at 15:31:03 the window is 15:30 to 15:35. The 300th call passes with 0
 * remaining; the 301st is refused until 15:35, when 300 are there again.
 */
export function fixedWindow(options: FixedWindowOptions): Limit {
  rejectUnknownOptions(options, ["limit", "window", "align", "offset", "countRefused"], "fixedWindow");
  const limit = parseAmount(options.limit, "fixedWindow.limit");
  const windowMs = parseDuration(options.window, "fixedWindow.window");
  const fromFirstHit = parseAlign(options.align) === "first-hit";
  const offsetMs = parseOffset(options.offset, windowMs, fromFirstHit);
  const countRefused = options.countRefused === true;

  function endOf(now: number): number {
    return fromFirstHit
      ? now + windowMs
      : (Math.floor((now - offsetMs) / windowMs) + 1) * windowMs + offsetMs;
  }

  return Object.freeze({
    kind: "fixed-window",
    id: fromFirstHit ? `fh:${windowMs}` : offsetMs === 0 ? `fw:${windowMs}` : `fw:${windowMs}+${offsetMs}`,
    cells: 2,
    args: [limit, windowMs, offsetMs, fromFirstHit ? 1 : 0],
    limit,
    windowMs,
    refusedWeight: countRefused ? 1 : 0,

    step(cells: Float64Array, at: number, now: number, cost: number, ruling: Ruling): void {
      let end = cells[at] as number;
      let count = cells[at + 1] as number;
      // A window emptied by refunds was never begun.
      if (end <= now || count === 0) {
        end = endOf(now);
        count = 0;
      }
      const sum = count + cost;
      ruling.allowed = !exceeds(sum, limit);
      ruling.ifAllowed[0] = end;
      ruling.ifAllowed[1] = sum;
      ruling.ifRefused[0] = end;
      ruling.ifRefused[1] = countRefused ? sum : count;
    },

    read(cells: Float64Array, at: number, now: number, cost: number, reading: Reading): void {
      const end = cells[at] as number;
      const count = end > now ? (cells[at + 1] as number) : 0;
      const wait = count > 0 ? end - now : 0;
      reading.remaining = count < limit ? limit - count : 0;
      reading.resetAfterMs = wait;
      reading.retryAfterMs = exceeds(cost, limit)
        ? Number.POSITIVE_INFINITY
        : exceeds(count + cost, limit)
          ? Math.ceil(wait)
          : 0;
      reading.expiresAt = end;
    },

    refund(cells: Float64Array, at: number, now: number, charge: Charge): void {
      const end = cells[at] as number;
      const chargedAt = charge.at ?? now;
      if (end <= now || chargedAt >= end || chargedAt < end - windowMs) return;
      cells[at + 1] = Math.max(0, (cells[at + 1] as number) - costOf(charge));
    },

    pressure(cells: Float64Array, at: number, now: number): number {
      if ((cells[at] as number) <= now || cells[at + 1] === 0) return 0;
      return limit === 0 ? 1 : (cells[at + 1] as number) / limit;
    },
  });
}

function parseAlign(align: unknown): "epoch" | "first-hit" {
  if (align === undefined || align === "epoch" || align === "first-hit") return align ?? "epoch";
  throw new ConfigError(
    "TG_ALIGN",
    "fixedWindow.align",
    `${shown(align)} is not an alignment.`,
    'Use "epoch" or "first-hit".',
  );
}

function parseOffset(offset: Duration | 0 | undefined, windowMs: number, fromFirstHit: boolean): number {
  if (offset === undefined || offset === 0) return 0;
  if (fromFirstHit) {
    throw new ConfigError(
      "TG_OFFSET",
      "fixedWindow.offset",
      "a window from the first hit has no boundary to move.",
      'Drop offset, or use align: "epoch".',
    );
  }
  return parseDuration(offset, "fixedWindow.offset") % windowMs;
}
