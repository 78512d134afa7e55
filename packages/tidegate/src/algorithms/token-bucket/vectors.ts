import type { Vector } from "../../testing/vector.js";
import { tokenBucket } from "./token-bucket.js";

/** 2017-04-28 15:30:00Z. */
const start = 1_493_393_400_000;
const never = Number.POSITIVE_INFINITY;

export const tokenBucketVectors: readonly Vector[] = [
  {
    title: "the burst passes at once, then one per interval",
    limit: tokenBucket({ rate: "10 per second", burst: 20 }),
    steps: [
      {
        at: start,
        expect: {
          allowed: true,
          limit: 20,
          windowMs: 2000,
          remaining: 19,
          resetAfterMs: 100,
          retryAfterMs: 0,
          delayMs: 0,
        },
      },
      { at: start, expect: { allowed: true, remaining: 18, resetAfterMs: 200, delayMs: 100 } },
      { at: start, times: 18, expect: { allowed: true } },
      {
        at: start,
        expect: { allowed: false, remaining: 0, resetAfterMs: 2000, retryAfterMs: 100, delayMs: 2000 },
      },
      { at: start + 99, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 100, expect: { allowed: true, remaining: 0, delayMs: 1900 } },
      { at: start + 100, expect: { allowed: false, retryAfterMs: 100 } },
      {
        at: start + 2100,
        act: "peek",
        expect: { allowed: true, remaining: 20, resetAfterMs: 0, delayMs: 0 },
      },
    ],
  },
  {
    title: "tokens come back steadily; only whole ones are shown",
    limit: tokenBucket({ rate: 3, per: "1s", burst: 3 }),
    steps: [
      { at: start, times: 3 },
      { at: start + 333, act: "peek", expect: { allowed: false, remaining: 0, retryAfterMs: 1 } },
      { at: start + 334, act: "peek", expect: { allowed: true, remaining: 1 } },
      { at: start + 666, act: "peek", expect: { remaining: 1 } },
      { at: start + 667, act: "peek", expect: { remaining: 2 } },
      { at: start + 1000, act: "peek", expect: { remaining: 3, resetAfterMs: 0 } },
    ],
  },
  {
    title: "a refused call costs nothing: a smaller one still fits",
    limit: tokenBucket({ rate: "1 per second", burst: 10 }),
    steps: [
      { at: start, cost: 8, expect: { allowed: true, remaining: 2 } },
      { at: start, cost: 5, times: 20, expect: { allowed: false, remaining: 2, retryAfterMs: 3000 } },
      { at: start, cost: 2, expect: { allowed: true, remaining: 0 } },
      { at: start, cost: 10, expect: { allowed: false, retryAfterMs: 10_000 } },
      { at: start + 9999, act: "peek", cost: 10, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 10_000, cost: 10, expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "a cost above the burst never passes",
    limit: tokenBucket({ rate: "1000 per second", burst: 10 }),
    steps: [{ at: start, cost: 11, expect: { allowed: false, remaining: 10, retryAfterMs: never } }],
  },
  {
    title: "a burst of 0 refuses everything, for ever",
    limit: tokenBucket({ rate: "10 per second", burst: 0 }),
    steps: [
      {
        at: start,
        expect: { allowed: false, limit: 0, remaining: 0, windowMs: 0, resetAfterMs: 0, retryAfterMs: never },
      },
      { at: start + 3_600_000, cost: 0.001, expect: { allowed: false, retryAfterMs: never } },
    ],
  },
  {
    title: "a burst of 1 keeps calls an interval apart",
    limit: tokenBucket({ rate: "4 per second", burst: 1 }),
    steps: [
      { at: start, expect: { allowed: true, remaining: 0 } },
      { at: start + 249, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 250, expect: { allowed: true } },
      { at: start + 499, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 500, expect: { allowed: true } },
    ],
  },
  {
    title: "a million per second is exact",
    limit: tokenBucket({ rate: 1_000_000, per: "1s", burst: 5000 }),
    steps: [
      { at: start, cost: 5000, expect: { allowed: true, remaining: 0, resetAfterMs: 5 } },
      { at: start, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 1, act: "peek", expect: { remaining: 1000 } },
      { at: start + 1, cost: 1000, expect: { allowed: true, remaining: 0 } },
      { at: start + 1, cost: 1001, expect: { allowed: false, retryAfterMs: 2 } },
      { at: start + 1.5, act: "peek", expect: { remaining: 500 } },
    ],
  },
  {
    title: "one per day is exact",
    limit: tokenBucket({ rate: "1 per day", burst: 2 }),
    steps: [
      { at: start, times: 2, expect: { allowed: true } },
      { at: start, expect: { allowed: false, retryAfterMs: 86_400_000, resetAfterMs: 172_800_000 } },
      { at: start + 86_399_999, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 86_400_000, expect: { allowed: true, remaining: 0 } },
      { at: start + 86_400_000, expect: { allowed: false, retryAfterMs: 86_400_000 } },
    ],
  },
  {
    title: "one per 400 days is exact to its tolerance",
    limit: tokenBucket({ rate: "1 per 400d", burst: 1 }),
    steps: [
      { at: start, expect: { allowed: true, resetAfterMs: 34_560_000_000 } },
      // The tolerance of 1e-9 is 35 ms of 400 days.
      { at: start + 34_559_999_964, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 34_560_000_000, expect: { allowed: true } },
    ],
  },
  {
    title: "a refill per millisecond limits, and refills",
    limit: tokenBucket({ rate: 1, per: 1, burst: 1 }),
    steps: [
      { at: start, expect: { allowed: true } },
      { at: start, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 0.5, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 1, expect: { allowed: true } },
    ],
  },
  {
    title: "sums of fractions get their tolerance, whole sums none",
    limit: tokenBucket({ rate: "1 per hour", burst: 0.3 }),
    steps: [
      { at: start, cost: 0.1, expect: { allowed: true } },
      { at: start, cost: 0.2, expect: { allowed: true, remaining: 0 } },
      { at: start, cost: 0.001, expect: { allowed: false, retryAfterMs: 3600 } },
    ],
  },
  {
    title: "a clock set back neither refills nor takes",
    limit: tokenBucket({ rate: "1 per second", burst: 2 }),
    steps: [
      { at: start, expect: { allowed: true, remaining: 1 } },
      { at: start - 3_600_000, expect: { allowed: true, remaining: 0, resetAfterMs: 3_602_000 } },
      { at: start - 3_600_000, expect: { allowed: false, retryAfterMs: 3_601_000, delayMs: 2000 } },
      { at: start + 999, act: "peek", expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 1000, expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "a clock an hour ahead fills the bucket, and no more",
    limit: tokenBucket({ rate: "1 per second", burst: 2 }),
    steps: [
      { at: start, times: 2 },
      { at: start + 3_600_000, expect: { allowed: true, remaining: 1, resetAfterMs: 1000 } },
    ],
  },
  {
    title: "a refund gives back what of the charge has not yet drained, first in first out",
    limit: tokenBucket({ rate: "1 per second", burst: 10 }),
    steps: [
      { at: start, cost: 4, expect: { resetAfterMs: 4000 } },
      { at: start, cost: 3, expect: { resetAfterMs: 7000 } },
      // After 5 s the first four are drained, and one of the three.
      { at: start + 5000, act: "refund", cost: 4, chargedAt: start, resetAfterMs: 4000 },
      { at: start + 5000, act: "peek", expect: { remaining: 8, resetAfterMs: 2000 } },
      { at: start + 5000, cost: 5, expect: { remaining: 3 } },
      { at: start + 5000, act: "refund", cost: 3, chargedAt: start, resetAfterMs: 7000 },
      { at: start + 5000, act: "peek", expect: { remaining: 5, resetAfterMs: 5000 } },
    ],
  },
  {
    title: "a refund of what was charged just now is whole, and never more than there is",
    limit: tokenBucket({ rate: "1 per second", burst: 10 }),
    steps: [
      { at: start, cost: 6, expect: { remaining: 4 } },
      { at: start, act: "refund", cost: 2 },
      { at: start, act: "peek", expect: { remaining: 6 } },
      { at: start + 1000, act: "refund", cost: 100 },
      { at: start + 1000, act: "peek", expect: { remaining: 10, resetAfterMs: 0 } },
      { at: start + 1000, cost: 10, expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "nginx's burst=5 is a bucket of 6; delayMs is how long it would keep a call waiting",
    limit: tokenBucket({ rate: "2 per second", burst: 6 }),
    steps: [
      { at: start, expect: { allowed: true, delayMs: 0 } },
      { at: start, expect: { allowed: true, delayMs: 500 } },
      { at: start, expect: { allowed: true, delayMs: 1000 } },
      { at: start + 250, expect: { allowed: true, delayMs: 1250 } },
      { at: start + 250, expect: { allowed: true, delayMs: 1750 } },
      { at: start + 250, expect: { allowed: true, delayMs: 2250 } },
      { at: start + 250, expect: { allowed: false, delayMs: 2750, retryAfterMs: 250 } },
      { at: start + 500, expect: { allowed: true, delayMs: 2500 } },
    ],
  },
];
