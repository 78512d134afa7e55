import type { Offender } from "../offenders.js";

/** An offender as kept, and what of it the edges were last told. */
export interface KeptOffender {
  readonly offender: Offender;
  readonly toldUntil: number;
  readonly toldScore: number;
}

export interface Merged {
  readonly kept: KeptOffender;
  /** The edges have to know. */
  readonly isNews: boolean;
}

/** The last time an edge can write down in whole seconds of ten digits, in 2286. */
const latest = 9_999_999_999_999;

/** What can not be counted with is put right, so that nobody is held by a NaN. */
export function soundOffender(offender: Offender): Offender {
  const until = Number.isNaN(offender.until) ? 0 : Math.min(offender.until, latest);
  return {
    ...offender,
    until,
    crossedAt: Number.isFinite(offender.crossedAt) ? offender.crossedAt : 0,
    score: Number.isFinite(offender.score) ? offender.score : 1,
    leaked: Number.isFinite(offender.leaked) ? offender.leaked : 0,
  };
}

/**
 * What is known of an offender now that it is told of again: `until` and `leaked` never fall, it crossed when it first did,
 * the rest is as last seen. News is what moved far from what the edges were told, however small its steps: `until` by more than
 * a second or 5 % of what was left, or a score more than doubled. Its twin is the script in redis/offender-scripts.ts.
 */
export function mergeOffender(known: KeptOffender | undefined, told: Offender, now: number): Merged {
  if (known === undefined || known.offender.until <= now)
    return { kept: { offender: told, toldUntil: told.until, toldScore: told.score }, isNews: true };
  const { offender: before, toldUntil, toldScore } = known;
  const offender: Offender = {
    ...told,
    until: Math.max(before.until, told.until),
    leaked: Math.max(before.leaked, told.leaked),
    crossedAt: Math.min(before.crossedAt, told.crossedAt),
  };
  const grownMs = offender.until - toldUntil;
  const isNews = grownMs > Math.min(1_000, 0.05 * (toldUntil - now)) || offender.score > 2 * toldScore;
  const kept = isNews
    ? { offender, toldUntil: offender.until, toldScore: offender.score }
    : { offender, toldUntil, toldScore };
  return { kept, isNews };
}

/** Worst first; of equals who is held longest. */
export function byScore(a: Offender, b: Offender): number {
  return b.score - a.score || b.until - a.until;
}
