import type { Vector } from "../../testing/vector.js";
import { fixedWindow } from "./fixed-window.js";

/** 2017-04-28 15:30:00Z, a multiple of five minutes. */
const start = 1_493_393_400_000;

export const fixedWindowVectors: readonly Vector[] = [
  {
    title: "the limit itself passes, one more does not",
    limit: fixedWindow({ limit: 300, window: "5m" }),
    steps: [
      {
        at: start + 63_000,
        expect: {
          allowed: true,
          remaining: 299,
          limit: 300,
          windowMs: 300_000,
          resetAfterMs: 237_000,
          retryAfterMs: 0,
        },
      },
      { at: start + 63_000, times: 298 },
      { at: start + 64_000, expect: { allowed: true, remaining: 0, resetAfterMs: 236_000 } },
      {
        at: start + 65_000,
        expect: { allowed: false, remaining: 0, resetAfterMs: 235_000, retryAfterMs: 235_000 },
      },
      { at: start + 299_999, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 300_000, expect: { allowed: true, remaining: 299 } },
    ],
  },
  {
    title: "aligned to the epoch, twice the limit fits around a boundary",
    limit: fixedWindow({ limit: 5, window: "1m" }),
    steps: [
      { at: start + 59_999, times: 5, expect: { allowed: true } },
      { at: start + 60_000, times: 5, expect: { allowed: true } },
      { at: start + 60_000, expect: { allowed: false } },
    ],
  },
  {
    title: "from the first hit, twice the limit less one is the most in an instant",
    limit: fixedWindow({ limit: 5, window: "1m", align: "first-hit" }),
    steps: [
      { at: start + 30_000, expect: { allowed: true, resetAfterMs: 60_000 } },
      { at: start + 89_999, times: 4, expect: { allowed: true } },
      { at: start + 89_999, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 90_000, times: 5, expect: { allowed: true } },
      { at: start + 90_000, expect: { allowed: false, retryAfterMs: 60_000 } },
    ],
  },
  {
    title: "an offset moves the boundary: a day in UTC-8 begins at 08:00Z",
    limit: fixedWindow({ limit: 1, window: "1d", offset: "8h" }),
    steps: [
      { at: Date.UTC(2017, 3, 28, 7, 59, 59), expect: { allowed: true, resetAfterMs: 1000 } },
      { at: Date.UTC(2017, 3, 28, 8), expect: { allowed: true, resetAfterMs: 86_400_000 } },
      { at: Date.UTC(2017, 3, 29, 7, 59), expect: { allowed: false, retryAfterMs: 60_000 } },
    ],
  },
  {
    title: "a refused call costs nothing: a smaller one still fits",
    limit: fixedWindow({ limit: 10, window: "1m" }),
    steps: [
      { at: start, cost: 8, expect: { allowed: true, remaining: 2 } },
      { at: start, cost: 3, expect: { allowed: false, remaining: 2, retryAfterMs: 60_000 } },
      { at: start, cost: 2, expect: { allowed: true, remaining: 0 } },
      { at: start, cost: 11, expect: { allowed: false, retryAfterMs: Number.POSITIVE_INFINITY } },
    ],
  },
  {
    title: "with countRefused every hit counts",
    limit: fixedWindow({ limit: 5, window: "1m", align: "first-hit", countRefused: true }),
    steps: [
      { at: start, times: 5, expect: { allowed: true } },
      { at: start, times: 2, expect: { allowed: false, remaining: 0 } },
      { at: start, act: "refund", cost: 2 },
      { at: start, act: "peek", expect: { allowed: false, remaining: 0 } },
      { at: start, act: "refund", cost: 2 },
      { at: start, act: "peek", expect: { allowed: true, remaining: 2 } },
    ],
  },
  {
    title: "a refund credits this window only, and never more than it holds",
    limit: fixedWindow({ limit: 5, window: "1m" }),
    steps: [
      { at: start, times: 3, expect: { allowed: true } },
      { at: start, act: "refund", cost: 1, chargedAt: start - 1 },
      { at: start, act: "peek", expect: { remaining: 2 } },
      { at: start, act: "refund", cost: 1, chargedAt: start },
      { at: start, act: "peek", expect: { remaining: 3 } },
      { at: start, act: "refund", cost: 100 },
      { at: start, act: "peek", expect: { remaining: 5, resetAfterMs: 0 } },
      { at: start + 60_000, expect: { allowed: true, remaining: 4 } },
      { at: start + 60_000, act: "refund", cost: 1, chargedAt: start },
      { at: start + 60_000, act: "peek", expect: { remaining: 4 } },
    ],
  },
  {
    title: "a clock set back does not open a second window",
    limit: fixedWindow({ limit: 2, window: "1m" }),
    steps: [
      { at: start, times: 2, expect: { allowed: true } },
      { at: start - 1, expect: { allowed: false, retryAfterMs: 60_001 } },
      { at: start + 60_000, expect: { allowed: true } },
    ],
  },
  {
    title: "a limit of 0 refuses everything, for ever",
    limit: fixedWindow({ limit: 0, window: "1h" }),
    steps: [
      {
        at: start,
        expect: { allowed: false, remaining: 0, retryAfterMs: Number.POSITIVE_INFINITY, resetAfterMs: 0 },
      },
    ],
  },
  {
    title: "sums of fractions get their tolerance, whole sums none",
    limit: fixedWindow({ limit: 0.3, window: "1h" }),
    steps: [
      { at: start, cost: 0.1, expect: { allowed: true } },
      { at: start, cost: 0.2, expect: { allowed: true, remaining: 0 } },
      { at: start, cost: 0.001, expect: { allowed: false } },
    ],
  },
  {
    title: "a hold refuses whatever the limit says, until it ends",
    limit: fixedWindow({ limit: 2, window: "1m" }),
    steps: [
      { at: start, expect: { allowed: true, remaining: 1 } },
      { at: start, act: "hold", forMs: 10_000 },
      {
        at: start + 1000,
        expect: { allowed: false, remaining: 1, retryAfterMs: 9000, heldUntil: start + 10_000 },
      },
      { at: start + 1000, act: "peek", expect: { allowed: false, heldUntil: start + 10_000 } },
      { at: start + 10_000, expect: { allowed: true, remaining: 0 } },
      { at: start + 10_000, act: "hold", forMs: 5000 },
      { at: start + 10_000, expect: { allowed: false, retryAfterMs: 50_000 } },
      { at: start + 10_000, act: "forget" },
      { at: start + 10_000, expect: { allowed: true, remaining: 1 } },
    ],
  },
  {
    title: "a window of one millisecond limits, and ends",
    limit: fixedWindow({ limit: 1, window: 1 }),
    steps: [
      { at: start, expect: { allowed: true } },
      { at: start, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 1, expect: { allowed: true } },
    ],
  },
  {
    title: "a window of 400 days limits, and ends",
    limit: fixedWindow({ limit: 1, window: "400d", align: "first-hit" }),
    steps: [
      { at: start, expect: { allowed: true, resetAfterMs: 34_560_000_000 } },
      { at: start + 34_559_999_999, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 34_560_000_000, expect: { allowed: true } },
    ],
  },
];
