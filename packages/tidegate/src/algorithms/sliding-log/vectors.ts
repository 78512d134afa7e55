import type { Vector, VectorStep } from "../../testing/vector.js";
import { type SlidingLogOptions, slidingLog } from "./sliding-log.js";

/** 2017-04-28 15:30:00Z. */
const start = 1_493_393_400_000;
const day = 86_400_000;
const hour = 3_600_000;
const never = Number.POSITIVE_INFINITY;

/** What calls of cost 1 see, whichever way Redis keeps the log. */
const ofCalls: readonly { title: string; limit: SlidingLogOptions; steps: readonly VectorStep[] }[] = [
  {
    title: "10 messages a day pass, the 11th does not until the first is a day old",
    limit: { limit: 10, window: "1d" },
    steps: [
      {
        at: start,
        expect: {
          allowed: true,
          limit: 10,
          windowMs: day,
          remaining: 9,
          resetAfterMs: day,
          retryAfterMs: 0,
        },
      },
      { at: start + 1000, times: 9, expect: { allowed: true } },
      {
        at: start + hour,
        expect: {
          allowed: false,
          remaining: 0,
          retryAfterMs: day - hour,
          resetAfterMs: day - hour + 1000,
        },
      },
      { at: start + day - 1, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + day, expect: { allowed: true, remaining: 0, resetAfterMs: day } },
      { at: start + day, expect: { allowed: false, retryAfterMs: 1000 } },
    ],
  },
  {
    title: "5 before a full minute and 5 after it: exactly 5 of the 10 pass",
    limit: { limit: 5, window: "1m" },
    steps: [
      { at: start + 59_000, times: 5, expect: { allowed: true } },
      { at: start + 61_000, times: 5, expect: { allowed: false, remaining: 0, retryAfterMs: 58_000 } },
    ],
  },
  {
    title: "an entry stops counting exactly a window after its time, not a millisecond earlier",
    limit: { limit: 5, window: "1m" },
    steps: [
      { at: start, times: 5, expect: { allowed: true } },
      { at: start + 30_000, expect: { allowed: false, retryAfterMs: 30_000 } },
      { at: start + 59_999, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 60_000, times: 5, expect: { allowed: true } },
      { at: start + 60_000, expect: { allowed: false, retryAfterMs: 60_000 } },
    ],
  },
  {
    title: "hammering extends nothing: refused calls are not recorded",
    limit: { limit: 5, window: "1m" },
    steps: [
      { at: start, expect: { allowed: true } },
      { at: start + 500, times: 4, expect: { allowed: true } },
      ...Array.from({ length: 59 }, (_, second) => ({
        at: start + 1000 + second * 1000,
        times: 10,
        expect: { allowed: false, retryAfterMs: 59_000 - second * 1000 },
      })),
      { at: start + 60_000, expect: { allowed: true } },
      { at: start + 60_000, expect: { allowed: false, retryAfterMs: 500 } },
    ],
  },
  {
    title: "of 1,000 hits in one millisecond exactly 5 pass",
    limit: { limit: 5, window: "1m" },
    steps: [
      { at: start, times: 5, expect: { allowed: true } },
      { at: start, times: 995, expect: { allowed: false, remaining: 0, retryAfterMs: 60_000 } },
      { at: start + 60_000, times: 5, expect: { allowed: true } },
      { at: start + 60_000, expect: { allowed: false } },
    ],
  },
  {
    title: "a clock an hour back lets nothing more in, and is caught up with",
    limit: { limit: 3, window: "1m" },
    steps: [
      { at: start, times: 2, expect: { allowed: true } },
      { at: start - hour, expect: { allowed: true, remaining: 0, resetAfterMs: hour + 60_000 } },
      { at: start - hour, expect: { allowed: false, retryAfterMs: hour + 60_000 } },
      { at: start + 59_999, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 60_000, times: 3, expect: { allowed: true } },
    ],
  },
  {
    title: "a clock an hour ahead forgets what is a window old, and does not bring it back",
    limit: { limit: 2, window: "1m" },
    steps: [
      { at: start, times: 2, expect: { allowed: true } },
      { at: start + hour, expect: { allowed: true, remaining: 1 } },
      { at: start, expect: { allowed: true, remaining: 0 } },
      { at: start, expect: { allowed: false, retryAfterMs: hour + 60_000 } },
      { at: start + hour + 60_000, times: 2, expect: { allowed: true } },
    ],
  },
  {
    title: "a lowered limit holds at once, a raised one too",
    limit: { limit: 10, window: "1m" },
    steps: [
      ...Array.from({ length: 10 }, (_, i) => ({ at: start + i * 1000, expect: { allowed: true } })),
      {
        at: start + 10_000,
        limit: slidingLog({ limit: 5, window: "1m" }),
        expect: { allowed: false, limit: 5, remaining: 0, retryAfterMs: 55_000 },
      },
      {
        at: start + 64_999,
        limit: slidingLog({ limit: 5, window: "1m" }),
        expect: { allowed: false, retryAfterMs: 1 },
      },
      {
        at: start + 65_000,
        limit: slidingLog({ limit: 5, window: "1m" }),
        expect: { allowed: true, remaining: 0 },
      },
      { at: start + 65_000, times: 5, expect: { allowed: true } },
      { at: start + 65_000, expect: { allowed: false, retryAfterMs: 1000 } },
    ],
  },
  {
    title: "a refund of a call takes its entry, not a newer one",
    limit: { limit: 3, window: "1m" },
    steps: [
      { at: start, expect: { allowed: true } },
      { at: start + 1000, expect: { allowed: true } },
      { at: start + 2000, expect: { allowed: true } },
      { at: start + 3000, act: "refund", chargedAt: start + 1000 },
      { at: start + 3000, act: "peek", expect: { allowed: true, remaining: 1, resetAfterMs: 59_000 } },
      { at: start + 3000, expect: { allowed: true, remaining: 0 } },
      { at: start + 60_000, times: 1, expect: { allowed: true } },
      { at: start + 60_000, expect: { allowed: false, retryAfterMs: 2000 } },
    ],
  },
  {
    title: "a refund gives back no more than there is, and nothing that is over",
    limit: { limit: 3, window: "1m" },
    steps: [
      { at: start, expect: { allowed: true } },
      { at: start + 30_000, times: 2, expect: { allowed: true } },
      { at: start + 60_000, act: "refund", chargedAt: start },
      { at: start + 60_000, act: "peek", expect: { remaining: 1 } },
      { at: start + 60_000, act: "refund", cost: 100 },
      { at: start + 60_000, act: "peek", expect: { remaining: 3, resetAfterMs: 0 } },
      { at: start + 60_000, act: "refund" },
      { at: start + 60_000, times: 3, expect: { allowed: true } },
      { at: start + 60_000, expect: { allowed: false } },
    ],
  },
  {
    title: "a limit of 0 refuses everything, for ever",
    limit: { limit: 0, window: "1h" },
    steps: [
      { at: start, expect: { allowed: false, remaining: 0, retryAfterMs: never, resetAfterMs: 0 } },
      { at: start, act: "peek", expect: { allowed: false, retryAfterMs: never } },
    ],
  },
  {
    title: "a window of one millisecond limits, and ends",
    limit: { limit: 1, window: 1 },
    steps: [
      { at: start, expect: { allowed: true } },
      { at: start, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 1, expect: { allowed: true } },
    ],
  },
  {
    title: "a window of 400 days limits, and ends",
    limit: { limit: 1, window: "400d" },
    steps: [
      { at: start, expect: { allowed: true, resetAfterMs: 400 * day } },
      { at: start + 400 * day - 1, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 400 * day, expect: { allowed: true } },
    ],
  },
  {
    title: "a hold refuses whatever the log says and records nothing; forget lifts it and empties the log",
    limit: { limit: 2, window: "1m" },
    steps: [
      { at: start, expect: { allowed: true, remaining: 1 } },
      { at: start, act: "hold", forMs: 10_000 },
      { at: start + 1000, times: 3, expect: { allowed: false, remaining: 1, retryAfterMs: 9000 } },
      { at: start + 10_000, expect: { allowed: true, remaining: 0 } },
      { at: start + 10_000, act: "hold", forMs: 5000 },
      { at: start + 10_000, expect: { allowed: false, retryAfterMs: 50_000 } },
      { at: start + 10_000, act: "forget" },
      { at: start + 10_000, expect: { allowed: true, remaining: 1 } },
    ],
  },
];

/** What only entries with a cost or an id of their own can show. */
const ofSums: readonly Vector[] = [
  {
    title: "2,000 dollars a day: what does not fit is refused whole, and not charged",
    limit: slidingLog({ limit: 2000, window: "1d" }),
    steps: [
      { at: start, cost: 1500, expect: { allowed: true, remaining: 500 } },
      { at: start + hour, cost: 600, expect: { allowed: false, remaining: 500, retryAfterMs: day - hour } },
      { at: start + hour, cost: 500, expect: { allowed: true, remaining: 0 } },
      { at: start + hour, cost: 0.01, expect: { allowed: false, remaining: 0, retryAfterMs: day - hour } },
      { at: start + day - 1, cost: 1500, expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + day, cost: 1500, expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "the wait is until enough has ended, and for ever when it never can",
    limit: slidingLog({ limit: 10, window: "1m" }),
    steps: [
      ...Array.from({ length: 10 }, (_, i) => ({ at: start + i * 1000, expect: { allowed: true } })),
      { at: start + 10_000, cost: 1, expect: { allowed: false, retryAfterMs: 50_000 } },
      { at: start + 10_000, cost: 2, expect: { allowed: false, retryAfterMs: 51_000 } },
      { at: start + 10_000, cost: 7, expect: { allowed: false, retryAfterMs: 56_000 } },
      { at: start + 10_000, cost: 10, expect: { allowed: false, retryAfterMs: 59_000 } },
      { at: start + 10_000, cost: 11, expect: { allowed: false, retryAfterMs: never } },
      { at: start + 10_000, act: "peek", cost: 3, expect: { allowed: false, retryAfterMs: 52_000 } },
      { at: start + 66_000, cost: 7, expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "an id is charged once, however often the call is retried",
    limit: slidingLog({ limit: 2, window: "1m" }),
    steps: [
      { at: start, id: "a", expect: { allowed: true, remaining: 1, id: "a" } },
      { at: start + 1000, id: "a", times: 5, expect: { allowed: true, remaining: 1, resetAfterMs: 59_000 } },
      { at: start + 2000, id: "b", expect: { allowed: true, remaining: 0 } },
      { at: start + 3000, id: "a", expect: { allowed: true, remaining: 0 } },
      { at: start + 3000, id: "a", act: "peek", expect: { allowed: true, remaining: 0 } },
      { at: start + 3000, id: "c", expect: { allowed: false, retryAfterMs: 57_000 } },
      { at: start + 3000, expect: { allowed: false } },
      { at: start + 60_000, id: "a", expect: { allowed: true, remaining: 0 } },
      { at: start + 60_000, id: "c", expect: { allowed: false, retryAfterMs: 2000 } },
    ],
  },
  {
    title: "a refused id is not remembered",
    limit: slidingLog({ limit: 1, window: "1m" }),
    steps: [
      { at: start, id: "a", expect: { allowed: true } },
      { at: start + 1000, id: "b", expect: { allowed: false } },
      { at: start + 60_000, id: "b", expect: { allowed: true, remaining: 0, resetAfterMs: 60_000 } },
    ],
  },
  {
    title: "ids of one millisecond stay apart",
    limit: slidingLog({ limit: 3, window: "1m" }),
    steps: [
      { at: start, id: "a", expect: { allowed: true } },
      { at: start, id: "b", expect: { allowed: true } },
      { at: start, id: "a", expect: { allowed: true, remaining: 1 } },
      { at: start, act: "refund", id: "a" },
      { at: start, id: "b", expect: { allowed: true, remaining: 2 } },
      { at: start, id: "a", expect: { allowed: true, remaining: 1 } },
      { at: start, expect: { allowed: true, remaining: 0 } },
      { at: start, act: "refund" },
      { at: start, act: "refund" },
      { at: start, act: "peek", expect: { remaining: 1 } },
    ],
  },
  {
    title: "a refund by id takes that entry, and a retry charges again",
    limit: slidingLog({ limit: 10, window: "1m" }),
    steps: [
      { at: start, id: "a", cost: 4, expect: { allowed: true } },
      { at: start + 1000, cost: 3, expect: { allowed: true, remaining: 3 } },
      { at: start + 2000, id: "b", cost: 3, expect: { allowed: true, remaining: 0 } },
      { at: start + 3000, act: "refund", id: "a", cost: 4, chargedAt: start },
      { at: start + 3000, act: "refund", id: "a", cost: 4, chargedAt: start },
      { at: start + 3000, act: "refund", id: "x", cost: 4 },
      { at: start + 3000, act: "peek", expect: { remaining: 4 } },
      { at: start + 3000, id: "a", cost: 4, expect: { allowed: true, remaining: 0 } },
      { at: start + 61_000, act: "peek", expect: { remaining: 3 } },
      { at: start + 62_000, act: "refund", id: "b", cost: 3, chargedAt: start + 2000 },
      { at: start + 62_000, act: "peek", expect: { remaining: 6 } },
      { at: start + 63_000, act: "peek", expect: { remaining: 10, resetAfterMs: 0 } },
    ],
  },
  {
    title: "a refund may take part of an entry, or several, out of the middle",
    limit: slidingLog({ limit: 20, window: "1m" }),
    steps: [
      { at: start, cost: 5 },
      { at: start + 1000, cost: 5 },
      { at: start + 2000, cost: 5 },
      { at: start + 3000, cost: 5, expect: { remaining: 0 } },
      { at: start + 4000, act: "refund", cost: 2.5, chargedAt: start + 1000 },
      { at: start + 4000, act: "peek", expect: { remaining: 2.5 } },
      { at: start + 4000, act: "refund", cost: 6, chargedAt: start + 2500 },
      { at: start + 4000, act: "peek", cost: 10, expect: { remaining: 8.5, retryAfterMs: 56_000 } },
      { at: start + 60_000, act: "peek", expect: { remaining: 13.5 } },
      { at: start + 61_000, act: "peek", expect: { remaining: 15 } },
      { at: start + 63_000, act: "peek", expect: { remaining: 20 } },
    ],
  },
  {
    title: "sums of fractions get their tolerance, whole sums none",
    limit: slidingLog({ limit: 0.3, window: "1h" }),
    steps: [
      { at: start, cost: 0.1, expect: { allowed: true } },
      { at: start, cost: 0.2, expect: { allowed: true, remaining: 0 } },
      { at: start, cost: 0.001, expect: { allowed: false } },
      { at: start, act: "refund", cost: 0.3 },
      { at: start, act: "peek", cost: 0.3, expect: { allowed: true, remaining: 0.3, resetAfterMs: 0 } },
    ],
  },
  {
    title: "the largest sums stay exact, however long the log lives",
    limit: slidingLog({ limit: Number.MAX_SAFE_INTEGER, window: "1s", onWarning() {} }),
    steps: Array.from({ length: 8 }, (_, i) => [
      {
        at: start + i * 500,
        cost: Number.MAX_SAFE_INTEGER - 1,
        expect: i % 2 === 0 ? { allowed: true, remaining: 1 } : { allowed: false, remaining: 0 },
      },
      { at: start + i * 500, expect: { allowed: i % 2 === 0, remaining: 0 } },
    ]).flat(),
  },
];

export const slidingLogVectors: readonly Vector[] = [
  ...ofCalls.map(({ title, limit, steps }) => ({ title, limit: slidingLog(limit), steps })),
  ...ofCalls.map(({ title, limit, steps }) => ({
    title,
    limit: slidingLog({ ...limit, encoding: "list" }),
    steps: steps.map((step) =>
      step.limit === undefined
        ? step
        : {
            ...step,
            limit: slidingLog({ limit: step.limit.limit, window: step.limit.windowMs, encoding: "list" }),
          },
    ),
  })),
  ...ofSums,
];
