import type { Limit, Reading, Ruling } from "../../limit.js";

/** All in milliseconds. */
export interface OffencesOptions {
  /** Refusals that make an offence, from 1. */
  readonly after: number;
  /** Within so long of the first. */
  readonly withinMs: number;
  /** How long the first offence is held, the second, and so on; the last stands for all further ones. */
  readonly holdsMs: readonly number[];
  /** After so long without an offence one step is forgiven. */
  readonly forgetMs: number;
}

/**
 * Counts how often the other limits of its rule refused a key, and holds the key when that is an offence: longer each
 * time, and less again as offences are forgiven. Refuses nobody itself; a key already held offends no further.
 * State: the end of the count, the count, and until when the ladder is remembered, 24 bytes.
 *
 * With holds of 1 m, 5 m and 1 h, a step forgiven per day: an offence at noon holds until 12:01, one at 13:00 until
 * 13:05; the next day at 15:00, one step being forgiven, an offence holds for 5 minutes again.
 */
export function offences({ after, withinMs, holdsMs, forgetMs }: OffencesOptions): Limit {
  const last = holdsMs.length - 1;
  return Object.freeze({
    kind: "offences",
    id: `of:${withinMs}:${forgetMs}`,
    cells: 3,
    args: [after, withinMs, forgetMs, holdsMs.length, ...holdsMs],
    limit: after,
    windowMs: withinMs,
    refusedWeight: 1,
    countsOffences: true,

    step(cells: Float64Array, at: number, now: number, _cost: number, ruling: Ruling): void {
      const { ifAllowed, ifRefused } = ruling;
      let end = cells[at] as number;
      let count = cells[at + 1] as number;
      let remembered = cells[at + 2] as number;
      ruling.allowed = true;
      ruling.holdUntil = 0;
      ifAllowed[0] = end;
      ifAllowed[1] = count;
      ifAllowed[2] = remembered;
      if (end <= now) {
        end = now + withinMs;
        count = 0;
      }
      count++;
      if (count >= after) {
        const level = Math.min(last, stepOf(remembered, now, forgetMs));
        ruling.holdUntil = now + (holdsMs[level] as number);
        remembered = ruling.holdUntil + forgetMs * (level + 1);
        end = 0;
        count = 0;
      }
      ifRefused[0] = end;
      ifRefused[1] = count;
      ifRefused[2] = remembered;
    },

    read(cells: Float64Array, at: number, now: number, _cost: number, reading: Reading): void {
      const end = cells[at] as number;
      const remembered = cells[at + 2] as number;
      reading.remaining = Math.max(0, after - (end > now ? (cells[at + 1] as number) : 0));
      reading.retryAfterMs = 0;
      reading.expiresAt = Math.max(end, remembered);
      reading.resetAfterMs = Math.max(0, reading.expiresAt - now);
    },

    refund(): void {},

    pressure(cells: Float64Array, at: number, now: number): number {
      const step = Math.min(1, stepOf(cells[at + 2] as number, now, forgetMs) / holdsMs.length);
      return Math.max(step, (cells[at] as number) > now ? (cells[at + 1] as number) / after : 0);
    },
  });
}

/** How many offences are not forgiven yet. A hair less, so that a hold's very end is not one step more. */
function stepOf(remembered: number, now: number, forgetMs: number): number {
  return remembered > now ? Math.ceil((remembered - now) / forgetMs - 1e-9) : 0;
}
