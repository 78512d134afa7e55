import type { Vector } from "../../testing/vector.js";
import { slidingCounter } from "./sliding-counter.js";

/** 2017-04-28 15:30:00Z, where a minute begins. */
const start = 1_493_393_400_000;
const never = Number.POSITIVE_INFINITY;

export const slidingCounterVectors: readonly Vector[] = [
  {
    title: "in a first window it counts like a fixed one, and says when the last of it fades",
    limit: slidingCounter({ limit: 5, window: "1m" }),
    steps: [
      {
        at: start + 10_000,
        expect: {
          allowed: true,
          limit: 5,
          windowMs: 60_000,
          remaining: 4,
          retryAfterMs: 0,
          resetAfterMs: 110_000,
        },
      },
      { at: start + 10_000, times: 4, expect: { allowed: true } },
      { at: start + 10_000, act: "peek", expect: { allowed: false, remaining: 0 } },
      // Five fade by one in 12 s of the next window.
      { at: start + 10_000, expect: { allowed: false, remaining: 0, retryAfterMs: 62_000 } },
      { at: start + 71_999, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 72_000, expect: { allowed: true, remaining: 0, resetAfterMs: 108_000 } },
    ],
  },
  {
    title: "the previous window counts for the share of it still in sight, unrounded",
    limit: slidingCounter({ limit: 100, window: "1m" }),
    steps: [
      { at: start, cost: 80, expect: { remaining: 20 } },
      { at: start + 60_000, cost: 20, expect: { allowed: true, remaining: 0 } },
      { at: start + 75_000, act: "peek", expect: { remaining: 20 } },
      { at: start + 75_000, cost: 10, expect: { allowed: true, remaining: 10 } },
      { at: start + 75_001, act: "peek", expect: { remaining: 10 } },
      { at: start + 75_749, act: "peek", expect: { remaining: 10 } },
      { at: start + 75_750, act: "peek", expect: { remaining: 11 } },
      { at: start + 105_000, act: "peek", expect: { remaining: 50, resetAfterMs: 75_000 } },
      { at: start + 120_000, act: "peek", expect: { remaining: 70, resetAfterMs: 60_000 } },
      { at: start + 180_000, act: "peek", expect: { remaining: 100, resetAfterMs: 0 } },
    ],
  },
  {
    title: "says exactly when a call passes while the previous window fades",
    limit: slidingCounter({ limit: 10, window: "1m" }),
    steps: [
      { at: start, times: 10 },
      { at: start + 60_000, expect: { allowed: false, retryAfterMs: 6000 } },
      { at: start + 65_999, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 66_000, expect: { allowed: true, remaining: 0 } },
      { at: start + 66_000, cost: 3, expect: { allowed: false, retryAfterMs: 18_000 } },
      { at: start + 83_999, act: "peek", cost: 3, expect: { allowed: false } },
      { at: start + 84_000, cost: 3, expect: { allowed: true } },
    ],
  },
  {
    title: "says exactly when a call passes once this window has become the previous one",
    limit: slidingCounter({ limit: 10, window: "1m" }),
    steps: [
      { at: start + 30_000, cost: 8 },
      // 5 pass when 8 have faded to 5: three eighths into the next window.
      { at: start + 30_000, cost: 5, expect: { allowed: false, remaining: 2, retryAfterMs: 52_500 } },
      { at: start + 82_499, act: "peek", cost: 5, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 82_500, cost: 5, expect: { allowed: true, remaining: 0 } },
      { at: start + 82_500, cost: 10, expect: { allowed: false, retryAfterMs: 97_500 } },
      { at: start + 179_999, act: "peek", cost: 10, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 180_000, cost: 10, expect: { allowed: true } },
    ],
  },
  {
    title: "waits are rounded up to a millisecond",
    limit: slidingCounter({ limit: 3, window: 1000 }),
    steps: [
      { at: start, times: 3 },
      { at: start + 1000, expect: { allowed: false, retryAfterMs: 334 } },
      { at: start + 1333, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 1334, expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "around a boundary nothing passes twice",
    limit: slidingCounter({ limit: 5, window: "1m" }),
    steps: [
      { at: start + 59_999, times: 5, expect: { allowed: true } },
      { at: start + 60_000, times: 5, expect: { allowed: false } },
      { at: start + 72_000, expect: { allowed: true } },
      { at: start + 72_000, expect: { allowed: false, retryAfterMs: 12_000 } },
    ],
  },
  {
    title: "the worst case: a window's length after a full one, just under twice the limit",
    limit: slidingCounter({ limit: 5, window: "1m" }),
    steps: [
      { at: start + 59_999, times: 5, expect: { allowed: true } },
      { at: start + 119_998, times: 4, expect: { allowed: true } },
      { at: start + 119_998, expect: { allowed: false, retryAfterMs: 2 } },
    ],
  },
  {
    title: "a refused call costs nothing: a smaller one still fits",
    limit: slidingCounter({ limit: 10, window: "1m" }),
    steps: [
      { at: start, cost: 8, expect: { allowed: true, remaining: 2 } },
      { at: start, cost: 3, times: 20, expect: { allowed: false, remaining: 2 } },
      { at: start, cost: 2, expect: { allowed: true, remaining: 0 } },
      { at: start, cost: 11, expect: { allowed: false, retryAfterMs: never } },
    ],
  },
  {
    title: "a refund goes to the window that was charged, and never below nothing",
    limit: slidingCounter({ limit: 10, window: "1m" }),
    steps: [
      { at: start, cost: 6 },
      { at: start + 1000, act: "refund", cost: 1, chargedAt: start },
      { at: start + 1000, act: "peek", expect: { remaining: 5 } },
      { at: start + 60_000, cost: 4, expect: { allowed: true, remaining: 1 } },
      { at: start + 60_000, act: "refund", cost: 2, chargedAt: start },
      { at: start + 60_000, act: "peek", expect: { remaining: 3 } },
      { at: start + 60_000, act: "refund", cost: 100, chargedAt: start },
      { at: start + 60_000, act: "peek", expect: { remaining: 6 } },
      { at: start + 60_000, act: "refund", cost: 100 },
      { at: start + 60_000, act: "peek", expect: { remaining: 10, resetAfterMs: 0 } },
    ],
  },
  {
    title: "a refund finds its charge though the window has turned since, and none older",
    limit: slidingCounter({ limit: 10, window: "1m" }),
    steps: [
      { at: start, cost: 8 },
      { at: start + 90_000, act: "refund", cost: 4, chargedAt: start },
      { at: start + 90_000, act: "peek", expect: { remaining: 8 } },
      { at: start + 90_000, cost: 2 },
      { at: start + 120_000, act: "refund", cost: 4, chargedAt: start },
      { at: start + 120_000, act: "peek", expect: { remaining: 8 } },
      { at: start + 120_000, act: "refund", cost: 4, chargedAt: start + 180_000 },
      { at: start + 120_000, act: "peek", expect: { remaining: 8 } },
    ],
  },
  {
    title: "a clock set back stays at the window's start",
    limit: slidingCounter({ limit: 4, window: "1m" }),
    steps: [
      { at: start, times: 2 },
      { at: start + 60_000, expect: { allowed: true, remaining: 1 } },
      { at: start - 3_600_000, act: "peek", expect: { allowed: true, remaining: 1 } },
      { at: start - 3_600_000, expect: { allowed: true, remaining: 0, resetAfterMs: 3_780_000 } },
      { at: start - 3_600_000, expect: { allowed: false, retryAfterMs: 3_690_000 } },
      { at: start + 89_999, act: "peek", expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 90_000, expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "a clock an hour ahead forgets, as it should",
    limit: slidingCounter({ limit: 2, window: "1m" }),
    steps: [
      { at: start, times: 2 },
      { at: start + 3_600_000, expect: { allowed: true, remaining: 1, resetAfterMs: 120_000 } },
    ],
  },
  {
    title: "a limit of 0 refuses everything, for ever",
    limit: slidingCounter({ limit: 0, window: "1h" }),
    steps: [
      { at: start, expect: { allowed: false, remaining: 0, retryAfterMs: never, resetAfterMs: 0 } },
      { at: start, cost: 0.001, expect: { allowed: false, retryAfterMs: never } },
    ],
  },
  {
    title: "sums of fractions get their tolerance, whole sums none",
    limit: slidingCounter({ limit: 0.3, window: "1h" }),
    steps: [
      { at: start, cost: 0.1, expect: { allowed: true } },
      { at: start, cost: 0.2, expect: { allowed: true, remaining: 0 } },
      { at: start, cost: 0.001, expect: { allowed: false } },
    ],
  },
  {
    title: "a fraction of a call left is no call left, and still fits a fraction",
    limit: slidingCounter({ limit: 3, window: 3000 }),
    steps: [
      { at: start, times: 3 },
      { at: start + 3500, act: "peek", expect: { allowed: false, remaining: 0, retryAfterMs: 500 } },
      { at: start + 3500, cost: 0.5, expect: { allowed: true, remaining: 0 } },
      { at: start + 3500, cost: 0.001, expect: { allowed: false, retryAfterMs: 1 } },
    ],
  },
  {
    title: "times between milliseconds are kept",
    limit: slidingCounter({ limit: 2, window: 1000 }),
    steps: [
      { at: start + 999.75, times: 2, expect: { allowed: true } },
      { at: start + 1499.75, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 1500, expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "a window of one millisecond limits, and ends",
    limit: slidingCounter({ limit: 2, window: 1 }),
    steps: [
      { at: start, times: 2, expect: { allowed: true } },
      { at: start, expect: { allowed: false, retryAfterMs: 2 } },
      { at: start + 1, act: "peek", expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 1.5, act: "peek", expect: { allowed: true, remaining: 1 } },
      { at: start + 2, expect: { allowed: true, remaining: 1, resetAfterMs: 2 } },
    ],
  },
  {
    title: "a window of 400 days limits, and ends",
    limit: slidingCounter({ limit: 2, window: "400d" }),
    steps: [
      { at: 43 * 34_560_000_000, times: 2, expect: { allowed: true } },
      { at: 43 * 34_560_000_000, act: "peek", expect: { resetAfterMs: 69_120_000_000 } },
      { at: 44 * 34_560_000_000 - 1, expect: { allowed: false } },
      // The tolerance of 1e-9 is 35 ms of 400 days.
      { at: 44.5 * 34_560_000_000 - 36, expect: { allowed: false, retryAfterMs: 1 } },
      { at: 44.5 * 34_560_000_000, expect: { allowed: true, remaining: 0 } },
    ],
  },
];
