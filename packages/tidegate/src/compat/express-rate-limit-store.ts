import type { Verdict } from "../decision.js";
import { ConfigError, shown } from "../errors.js";
import type { FailureOptions } from "../failure-options.js";
import { createLimiter, fixedWindow, memoryStore } from "../index.js";
import { rejectUnknownOptions } from "../limit.js";
import type { Limiter } from "../limiter.js";
import type { Store } from "../store.js";

export interface ExpressRateLimitStoreOptions extends Omit<FailureOptions, "onStoreFailure"> {
  /** Default: counts in this process, of this limiter alone. */
  store?: Store;
  /** Tells limiters on one store apart; those of the same prefix and window share counts. Default `"rl:"`. */
  prefix?: string;
}

/** What express-rate-limit asks: hits so far in the window, those above the limit included, and when it ends. */
export interface ClientHits {
  readonly totalHits: number;
  readonly resetTime: Date;
}

/** Express-rate-limit gives these to the store it makes itself, as the only argument. */
interface Validations {
  windowMs(windowMs: number): void;
}

type Timer = ReturnType<typeof setInterval> & { unref?: () => void };

/** Express-rate-limit judges by the count; nothing is ever refused here. */
const countless = Number.MAX_SAFE_INTEGER;
const longestTimerMs = 2 ** 31 - 1;
const longestWindowMs = 10 * 365 * 24 * 3_600_000;

/** Counts of express-rate-limit in any Tidegate store. Each window begins with a client's first hit. */
export class TidegateStore {
  /** True when no other store can count under these keys. */
  readonly localKeys: boolean;
  readonly prefix: string;
  /** Only where all counts are this store's own: others know no way to find them. */
  readonly resetAll?: () => Promise<void>;
  /** Gives memory back once a whole window brought no hit. */
  interval: Timer | undefined;
  readonly #store: Store | undefined;
  readonly #failures: FailureOptions;
  readonly #validations: Validations | undefined;
  #windowMs = 60_000;
  #limiter: Limiter;
  #wasHit = false;

  constructor(given: ExpressRateLimitStoreOptions | Validations = {}) {
    const { options, validations } = isValidations(given)
      ? { options: {}, validations: given }
      : { options: given, validations: undefined };
    const { store, prefix, ...failures } = parseOptions(options);
    this.#store = store;
    this.#failures = failures;
    this.#validations = validations;
    this.prefix = prefix;
    this.localKeys = store === undefined;
    this.#limiter = this.#open();
    if (this.localKeys) this.resetAll = async () => this.#startAfresh();
  }

  init({ windowMs }: { readonly windowMs: number }): void {
    this.#validations?.windowMs(windowMs);
    this.#windowMs = windowIn(windowMs);
    this.#startAfresh();
    clearInterval(this.interval);
    if (!this.localKeys || this.#windowMs > longestTimerMs) return;
    this.interval = setInterval(() => this.#tidy(), this.#windowMs) as Timer;
    this.interval.unref?.();
  }

  async get(key: string): Promise<ClientHits | undefined> {
    const verdict = await this.#limiter.peek(this.prefix + key);
    return verdict.remaining === countless ? undefined : this.#hitsOf(verdict);
  }

  async increment(key: string): Promise<ClientHits> {
    this.#wasHit = true;
    return this.#hitsOf(await this.#limiter.consume(this.prefix + key));
  }

  /** Never below zero, and never what an earlier window counted. */
  async decrement(key: string): Promise<void> {
    await this.#limiter.refund(this.prefix + key);
  }

  async resetKey(key: string): Promise<void> {
    await this.#limiter.forget(this.prefix + key);
  }

  /** A store handed in stays open: it is yours. */
  shutdown(): void {
    clearInterval(this.interval);
    if (this.localKeys) this.#startAfresh();
  }

  #open(): Limiter {
    return createLimiter({
      ...this.#failures,
      name: "express-rate-limit",
      limit: fixedWindow({ limit: countless, window: this.#windowMs, align: "first-hit" }),
      // Asked anew each time, so that a clock put in the real one's place counts.
      store: this.#store ?? memoryStore({ clock: () => Date.now() }),
    });
  }

  #startAfresh(): void {
    this.#limiter = this.#open();
  }

  #tidy(): void {
    if (!this.#wasHit) this.#startAfresh();
    this.#wasHit = false;
  }

  #hitsOf({ remaining, at, resetAfterMs }: Verdict): ClientHits {
    // Express-rate-limit reads the date by this process's clock, which may differ from a store's.
    const now = this.localKeys ? at : Date.now();
    return { totalHits: countless - remaining, resetTime: new Date(Math.ceil(now + resetAfterMs)) };
  }
}

/** As `new TidegateStore(options)`. */
export function expressRateLimitStore(options: ExpressRateLimitStoreOptions = {}): TidegateStore {
  return new TidegateStore(options);
}

function isValidations(given: ExpressRateLimitStoreOptions | Validations): given is Validations {
  return typeof (given as Validations | null)?.windowMs === "function";
}

function parseOptions(
  options: ExpressRateLimitStoreOptions,
): ExpressRateLimitStoreOptions & { prefix: string } {
  rejectUnknownOptions(
    options,
    ["store", "prefix", "deadlineMs", "breaker", "onDegraded", "onRecovered"],
    "expressRateLimitStore",
  );
  const { prefix = "rl:" } = options;
  if (typeof prefix === "string" && prefix !== "") return { ...options, prefix };
  throw new ConfigError(
    "TG_PREFIX",
    "expressRateLimitStore.prefix",
    `${shown(prefix)} can not be a prefix.`,
    "Give a non-empty string, another one for each limiter.",
  );
}

/** Express-rate-limit reports a window it finds wrong and goes on; so does this. */
function windowIn(windowMs: number): number {
  return windowMs >= 1 ? Math.min(Math.ceil(windowMs), longestWindowMs) : 1;
}
