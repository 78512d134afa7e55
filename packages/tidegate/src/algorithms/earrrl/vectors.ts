import type { Vector } from "../../testing/vector.js";
import { earrrl } from "./earrrl.js";

/** 2009-02-13 23:31:30Z. */
const start = 1_234_567_890_000;
const lambda = Math.LN2 / 10_000;

export const earrrlVectors: readonly Vector[] = [
  {
    title: "decides on the estimate before the hit, counts after it, refused or not",
    limit: earrrl({ rate: 0.5, halfLife: "10s" }),
    steps: [
      {
        at: start,
        expect: { allowed: true, estimate: 0, limit: 8, remaining: 7, windowMs: 1 / lambda, retryAfterMs: 0 },
      },
      { at: start, expect: { allowed: true, estimate: lambda * 1000, remaining: 6 } },
      { at: start, cost: 6, expect: { allowed: true, estimate: 2 * lambda * 1000, remaining: 0 } },
      {
        at: start,
        expect: {
          allowed: false,
          estimate: 8 * lambda * 1000,
          remaining: 0,
          retryAfterMs: Math.ceil(Math.log((9 * lambda * 1000) / 0.5) / lambda),
        },
      },
      { at: start, act: "peek", expect: { allowed: false, estimate: 9 * lambda * 1000 } },
    ],
  },
  {
    title: "the estimate halves in a half-life",
    limit: earrrl({ rate: 0.5, halfLife: "10s" }),
    steps: [
      { at: start, cost: 4 },
      { at: start + 10_000, act: "peek", expect: { estimate: 2 * lambda * 1000 } },
      { at: start + 20_000, act: "peek", expect: { estimate: lambda * 1000 } },
    ],
  },
  {
    title: "an estimate exactly at the rate is allowed",
    limit: earrrl({ rate: 5 * lambda * 1000, halfLife: "10s" }),
    steps: [
      { at: start, cost: 5 },
      { at: start, expect: { allowed: true } },
      { at: start, expect: { allowed: false } },
    ],
  },
  {
    title: "passes again exactly when it said it would",
    limit: earrrl({ rate: 1, halfLife: "10s" }),
    steps: [
      { at: start, cost: 57.70780163555854, expect: { allowed: true } },
      { at: start, cost: 57.70780163555854, expect: { allowed: false, retryAfterMs: 30_000 } },
      { at: start + 29_998, act: "peek", expect: { allowed: false } },
      { at: start + 30_001, act: "peek", expect: { allowed: true } },
    ],
  },
  {
    title: "overage is what a refused hit weighs",
    limit: earrrl({ rate: 0.5, halfLife: "10s", overage: 0.25 }),
    steps: [
      { at: start, cost: 8 },
      { at: start, times: 4, expect: { allowed: false } },
      { at: start, act: "peek", expect: { estimate: 9 * lambda * 1000 } },
    ],
  },
  {
    title: "without overage a refused hit changes nothing",
    limit: earrrl({ rate: 0.5, halfLife: "10s", overage: 0 }),
    steps: [
      { at: start, cost: 8 },
      { at: start, times: 20, expect: { allowed: false, estimate: 8 * lambda * 1000 } },
    ],
  },
  {
    title: "a clock set back neither bans nor forgives",
    limit: earrrl({ rate: 0.5, halfLife: "10s" }),
    steps: [
      { at: start, cost: 4 },
      { at: start - 3_600_000, act: "peek", expect: { allowed: true, estimate: 4 * lambda * 1000 } },
      { at: start - 3_600_000, expect: { allowed: true, estimate: 4 * lambda * 1000 } },
      { at: start + 10_000, act: "peek", expect: { estimate: 2.5 * lambda * 1000 } },
    ],
  },
  {
    title: "a refund takes back what is left of the charge",
    limit: earrrl({ rate: 0.5, halfLife: "10s" }),
    steps: [
      { at: start, cost: 4 },
      { at: start + 10_000, cost: 1 },
      { at: start + 10_000, act: "refund", cost: 4, chargedAt: start },
      { at: start + 10_000, act: "peek", expect: { estimate: lambda * 1000 } },
      { at: start + 10_000, act: "refund", cost: 100 },
      { at: start + 10_000, act: "peek", expect: { estimate: 0, remaining: 8, resetAfterMs: 0 } },
    ],
  },
  {
    title: "a fraction of a call weighs a fraction, refused or not",
    limit: earrrl({ rate: 0.5, halfLife: "10s", overage: 0.5 }),
    steps: [
      { at: start, cost: 7.5, expect: { allowed: true, remaining: 0 } },
      { at: start, cost: 0.5, expect: { allowed: false, estimate: 7.5 * lambda * 1000 } },
      { at: start, act: "peek", expect: { allowed: false, estimate: 7.75 * lambda * 1000 } },
    ],
  },
  {
    title: "a half-life of one millisecond limits, and forgets",
    limit: earrrl({ rate: 1000, halfLife: 1 }),
    steps: [
      { at: start, expect: { allowed: true, limit: 2, remaining: 1 } },
      { at: start, expect: { allowed: true, remaining: 0 } },
      { at: start, expect: { allowed: false, estimate: 2000 * Math.LN2, retryAfterMs: 2 } },
      { at: start + 1, act: "peek", expect: { allowed: false, estimate: 1500 * Math.LN2 } },
      { at: start + 2, expect: { allowed: true, estimate: 750 * Math.LN2 } },
    ],
  },
  {
    title: "a half-life of 400 days limits, and forgets",
    limit: earrrl({ rate: "1 per 400d", halfLife: "400d" }),
    steps: [
      { at: start, times: 2, expect: { allowed: true, limit: 2 } },
      {
        at: start,
        expect: { allowed: false, retryAfterMs: Math.ceil(Math.log2(3 * Math.LN2) * 34_560_000_000) },
      },
      { at: start + 34_560_000_000, act: "peek", expect: { allowed: false } },
      { at: start + 36_600_000_000, act: "peek", expect: { allowed: true } },
    ],
  },
  {
    title: "a clock an hour ahead forgets what an hour forgets",
    limit: earrrl({ rate: 0.5, halfLife: "30m" }),
    steps: [
      { at: start, cost: 4000, expect: { allowed: true } },
      {
        at: start + 3_600_000,
        expect: { allowed: true, estimate: 1000 * (Math.LN2 / 1800), remaining: 298 },
      },
    ],
  },
  {
    title: "calls of next to nothing add up",
    limit: earrrl({ rate: 0.5, halfLife: "10s" }),
    steps: [
      { at: start, cost: 1e-7, times: 5 },
      { at: start, act: "peek", expect: { allowed: true, estimate: 5e-7 * lambda * 1000 } },
    ],
  },
];
