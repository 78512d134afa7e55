import type { Vector } from "../../testing/vector.js";
import { concurrency } from "./concurrency.js";

const start = 1_493_393_400_000;
const never = Number.POSITIVE_INFINITY;

export const concurrencyVectors: readonly Vector[] = [
  {
    title: "so many at the same time, and one more when one is released",
    limit: concurrency({ limit: 2, leaseFor: "30s" }),
    steps: [
      {
        at: start,
        id: "a",
        expect: {
          allowed: true,
          limit: 2,
          windowMs: 30_000,
          remaining: 1,
          resetAfterMs: 30_000,
          retryAfterMs: 0,
          id: "a",
        },
      },
      { at: start + 1000, id: "b", expect: { allowed: true, remaining: 0, resetAfterMs: 30_000 } },
      {
        at: start + 2000,
        id: "c",
        times: 3,
        expect: { allowed: false, remaining: 0, retryAfterMs: 28_000, resetAfterMs: 29_000 },
      },
      { at: start + 2000, act: "refund", id: "a" },
      { at: start + 2000, act: "refund", id: "a" },
      { at: start + 2000, id: "c", expect: { allowed: true, remaining: 0 } },
      { at: start + 2000, id: "d", expect: { allowed: false, retryAfterMs: 29_000 } },
    ],
  },
  {
    title: "a lease nobody releases ends by itself, exactly at its end",
    limit: concurrency({ limit: 1, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a", expect: { allowed: true } },
      { at: start + 29_999, id: "b", expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 30_000, id: "b", expect: { allowed: true } },
      { at: start + 30_000, act: "refund", id: "a" },
      { at: start + 30_000, id: "c", expect: { allowed: false, retryAfterMs: 30_000 } },
    ],
  },
  {
    title: "the same id renews its lease and takes no second slot",
    limit: concurrency({ limit: 2, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a", expect: { remaining: 1 } },
      { at: start + 20_000, id: "b", expect: { remaining: 0 } },
      { at: start + 25_000, id: "a", expect: { allowed: true, remaining: 0, resetAfterMs: 30_000 } },
      { at: start + 25_000, id: "c", expect: { allowed: false, retryAfterMs: 25_000 } },
      { at: start + 50_000, id: "c", expect: { allowed: true, remaining: 0 } },
    ],
  },
  {
    title: "a lease that ended is taken anew if there is room",
    limit: concurrency({ limit: 1, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a", expect: { allowed: true } },
      { at: start + 30_000, id: "a", expect: { allowed: true, remaining: 0 } },
      { at: start + 60_000, id: "b", expect: { allowed: true } },
      { at: start + 60_000, id: "a", expect: { allowed: false, retryAfterMs: 30_000 } },
    ],
  },
  {
    title: "a call takes as many slots as it costs, all or none, and gives all back",
    limit: concurrency({ limit: 5, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a", cost: 3, expect: { allowed: true, remaining: 2 } },
      { at: start + 1000, id: "b", cost: 3, expect: { allowed: false, remaining: 2, retryAfterMs: 29_000 } },
      { at: start + 1000, id: "b", cost: 1, expect: { allowed: true, remaining: 1 } },
      { at: start + 2000, id: "c", cost: 5, expect: { allowed: false, retryAfterMs: 29_000 } },
      { at: start + 2000, id: "c", cost: 6, expect: { allowed: false, retryAfterMs: never } },
      { at: start + 3000, id: "a", cost: 3, expect: { allowed: true, remaining: 1, resetAfterMs: 30_000 } },
      { at: start + 3000, act: "refund", id: "a", cost: 3 },
      { at: start + 3000, act: "peek", cost: 4, expect: { allowed: true, remaining: 4 } },
      { at: start + 31_000, act: "peek", cost: 5, expect: { allowed: true, remaining: 5, resetAfterMs: 0 } },
    ],
  },
  {
    title: "without an id the newest is released, and no more than there is",
    limit: concurrency({ limit: 4, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a" },
      { at: start + 1000, id: "b", cost: 2 },
      { at: start + 2000, expect: { remaining: 0 } },
      { at: start + 2000, act: "refund", cost: 2 },
      { at: start + 2000, act: "peek", expect: { remaining: 2, resetAfterMs: 29_000 } },
      { at: start + 2000, id: "b", cost: 2, expect: { allowed: true, remaining: 2, resetAfterMs: 30_000 } },
      { at: start + 2000, act: "refund", cost: 100 },
      { at: start + 2000, act: "peek", expect: { remaining: 4, resetAfterMs: 0 } },
      { at: start + 2000, id: "a", expect: { remaining: 3 } },
    ],
  },
  {
    title: "leases nobody named are counted apart",
    limit: concurrency({ limit: 5, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a" },
      { at: start, cost: 2 },
      { at: start, act: "refund", id: "a" },
      { at: start, expect: { remaining: 2 } },
      { at: start, cost: 2, expect: { remaining: 0 } },
      { at: start, expect: { allowed: false, retryAfterMs: 30_000 } },
    ],
  },
  {
    title: "a change of limit or lease keeps running leases",
    limit: concurrency({ limit: 3, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a" },
      { at: start + 1000, id: "b" },
      { at: start + 2000, id: "c" },
      {
        at: start + 3000,
        id: "d",
        limit: concurrency({ limit: 2, leaseFor: "10s" }),
        expect: { allowed: false, remaining: 0, retryAfterMs: 28_000, resetAfterMs: 29_000 },
      },
      {
        at: start + 3000,
        id: "a",
        limit: concurrency({ limit: 2, leaseFor: "10s" }),
        expect: { allowed: true, remaining: 0, resetAfterMs: 29_000 },
      },
      { at: start + 29_999, id: "d", expect: { allowed: false, retryAfterMs: 1 } },
      { at: start + 30_000, id: "d", expect: { allowed: true } },
    ],
  },
  {
    title: "a clock an hour back ends no lease early, one an hour ahead ends them",
    limit: concurrency({ limit: 1, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a" },
      { at: start - 3_600_000, id: "b", expect: { allowed: false, retryAfterMs: 3_630_000 } },
      { at: start - 3_600_000, id: "a", expect: { allowed: true, resetAfterMs: 3_630_000 } },
      { at: start + 3_600_000, id: "b", expect: { allowed: true } },
      { at: start, id: "a", expect: { allowed: false, retryAfterMs: 3_630_000 } },
    ],
  },
  {
    title: "a limit of 0 refuses everything, for ever",
    limit: concurrency({ limit: 0, leaseFor: "30s" }),
    steps: [
      {
        at: start,
        id: "a",
        expect: { allowed: false, remaining: 0, retryAfterMs: never, resetAfterMs: 0 },
      },
    ],
  },
  {
    title: "a hold takes no slot and ends no lease; forget ends all",
    limit: concurrency({ limit: 2, leaseFor: "30s" }),
    steps: [
      { at: start, id: "a" },
      { at: start, act: "hold", forMs: 10_000 },
      { at: start, id: "b", expect: { allowed: false, remaining: 1, retryAfterMs: 10_000 } },
      { at: start, id: "a", expect: { allowed: false, remaining: 1 } },
      { at: start + 10_000, id: "b", expect: { allowed: true, remaining: 0 } },
      { at: start + 10_000, act: "forget" },
      { at: start + 10_000, act: "peek", id: "a", expect: { allowed: true, remaining: 2 } },
    ],
  },
];
