import { assembleGate } from "./assemble-gate.js";
import type { RateText } from "./duration.js";
import type { Gate, GateOptions } from "./gate.js";
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

/** Rules, lists, tiers and a store, assembled: judges whole requests. */
export function createGate(options: GateOptions): Gate {
  return assembleGate(options, { openStore: memoryStore });
}

export { type ConcurrencyOptions, concurrency } from "./algorithms/concurrency/concurrency.js";
export { type EarrrlOptions, earrrl } from "./algorithms/earrrl/earrrl.js";
export { type FixedWindowOptions, fixedWindow } from "./algorithms/fixed-window/fixed-window.js";
export { type SlidingCounterOptions, slidingCounter } from "./algorithms/sliding-counter/sliding-counter.js";
export { type SlidingLogOptions, slidingLog } from "./algorithms/sliding-log/sliding-log.js";
export { type TokenBucketOptions, tokenBucket } from "./algorithms/token-bucket/token-bucket.js";
export type { Charge, Check } from "./check.js";
export type { Clock } from "./clock.js";
export type { Decision, Reason, Source, Verdict } from "./decision.js";
export type { CustomerRecord, Directory, DirectoryWatcher, ListEntry, ListName } from "./directory.js";
export { type Duration, parseDuration } from "./duration.js";
export { ConfigError, StoreError, TidegateError } from "./errors.js";
export type { FailureOptions, OnStoreFailure } from "./failure-options.js";
export type {
  AddressList,
  BusyKey,
  Cleared,
  Customers,
  DecideOptions,
  Explanation,
  Gate,
  GateEvents,
  GateMetrics,
  GateOptions,
  IdentityOptions,
  Policy,
  RuleExplanation,
  RuleMetrics,
  Warning,
} from "./gate.js";
export type { LeaseLimit, Ledger, Limit, Reading, Ruling } from "./limit.js";
export type { ConsumeOptions, Lease, LeaseLimiter, Limiter, LimiterOptions, LimitLike } from "./limiter.js";
export { type BackoffOptions, backoff } from "./policy/backoff.js";
export { memoryDirectory } from "./policy/lists/memory-directory.js";
export { type LoginOptions, loginRules } from "./policy/login-rules.js";
export type { Fact, HoldOptions, Match, RuleOptions, TrustOptions } from "./policy/rule-options.js";
export type { Answer, Store, Terms } from "./store.js";
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from "./stores/memory/memory-store.js";
export type { Outcome, Subject } from "./subject.js";
export type { RateText };
