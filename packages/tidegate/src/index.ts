import type { RateText } from "./duration.js";
import type { LeaseLimit } from "./limit.js";
import {
  assembleLimiter,
  type LeaseLimiter,
  type Limiter,
  type LimiterOptions,
  type LimitLike,
} from "./limiter.js";
import { memoryStore } from "./stores/memory/memory-store.js";

/** Limits anything by key and cost. With a concurrency limit among them it also leases. */
export function createLimiter(options: LimiterOptions & { limit: LeaseLimit }): LeaseLimiter;
export function createLimiter<const Limits extends readonly LimitLike[]>(
  options: Omit<LimiterOptions, "limit" | "limits"> & { limits: Limits },
): Extract<Limits[number], LeaseLimit> extends never ? Limiter : LeaseLimiter;
export function createLimiter(options: LimiterOptions): Limiter;
export function createLimiter(options: LimiterOptions): LeaseLimiter {
  return assembleLimiter(options, { openStore: memoryStore });
}

export { type ConcurrencyOptions, concurrency } from "./algorithms/concurrency/concurrency.js";
export { type EarrrlOptions, earrrl } from "./algorithms/earrrl/earrrl.js";
export { type FixedWindowOptions, fixedWindow } from "./algorithms/fixed-window/fixed-window.js";
export { type SlidingCounterOptions, slidingCounter } from "./algorithms/sliding-counter/sliding-counter.js";
export { type SlidingLogOptions, slidingLog } from "./algorithms/sliding-log/sliding-log.js";
export { type TokenBucketOptions, tokenBucket } from "./algorithms/token-bucket/token-bucket.js";
export type { Charge, Check } from "./check.js";
export type { Clock } from "./clock.js";
export type { Source, Verdict } from "./decision.js";
export type { Duration } from "./duration.js";
export { ConfigError, StoreError, TidegateError } from "./errors.js";
export type { FailureOptions, OnStoreFailure } from "./guard.js";
export type { LeaseLimit, Ledger, Limit, Reading, Ruling } from "./limit.js";
export type { ConsumeOptions, Lease, LeaseLimiter, Limiter, LimiterOptions, LimitLike } from "./limiter.js";
export type { Answer, Store, Terms } from "./store.js";
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from "./stores/memory/memory-store.js";
export type { RateText };
