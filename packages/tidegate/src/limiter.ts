import { fixedWindow } from "./algorithms/fixed-window/fixed-window.js";
import { type Charge, type Check, levelName, validateCost, validateKey, validateRuleName } from "./check.js";
import { Companions } from "./companions.js";
import { spokesman, type Verdict } from "./decision.js";
import { type Duration, parseDuration, parseRate, type RateText } from "./duration.js";
import { ConfigError, shown } from "./errors.js";
import type { FailureOptions } from "./failure-options.js";
import { guardStore, isPromise } from "./guard.js";
import { type LeaseLimit, type Limit, rejectUnknownOptions } from "./limit.js";
import type { Store } from "./store.js";

/** A limit, or a text such as `"100 per hour"`, which means a fixed window. */
export type LimitLike = Limit | RateText;

export interface LimiterOptions extends FailureOptions {
  /** Names the counts. Two limiters of one name on one store share them. */
  name: string;
  limit?: LimitLike;
  /** Several limits hold together: a call passes when all allow it, and is charged to all or none. */
  limits?: readonly LimitLike[];
  /** Default: `memoryStore()`, counts in this process. */
  store?: Store;
}

export interface ConsumeOptions {
  /** How much this call weighs. Default 1. */
  cost?: number;
  /** Names the charge. A sliding log charges an id once, however often the call is retried; the first cost stands. */
  id?: string;
}

export interface Limiter {
  readonly name: string;
  readonly limits: readonly Limit[];
  /** Charges a call if every limit allows it. Answers the verdict that spoke: refused the longest wait, allowed the least left. */
  consume(key: string, options?: ConsumeOptions): Promise<Verdict>;
  /** What `consume` would say. Writes nothing. */
  peek(key: string, options?: ConsumeOptions): Promise<Verdict>;
  /** Gives back what a verdict charged, once, as far as the current window still holds it; or a cost charged to a key just now. */
  refund(verdict: Verdict): Promise<void>;
  refund(key: string, cost?: number): Promise<void>;
  /** Drops all that is known of a key, a hold included. */
  forget(key: string): Promise<void>;
  /** Refuses a key for so long, whatever its limits say. `forget` lifts it. */
  hold(key: string, duration: Duration): Promise<void>;
}

/** A limiter with a concurrency limit. */
export interface LeaseLimiter extends Limiter {
  /** Takes a slot. Release it when done; it ends by itself after `leaseFor` if you can not. */
  acquire(key: string, options?: ConsumeOptions): Promise<Lease>;
}

/** A slot taken, or refused. `await using lease = await calls.acquire(key)` releases it at the end of the block. */
export interface Lease extends AsyncDisposable {
  readonly allowed: boolean;
  readonly verdict: Verdict;
  /** Starts `leaseFor` anew. Answers a refused verdict when the slot was lost or released meanwhile. */
  renew(): Promise<Verdict>;
  release(): Promise<void>;
}

/** Where a limiter gets what it was not given. */
export interface LimiterDefaults {
  readonly openStore: () => Store;
}

export function assembleLimiter(options: LimiterOptions, { openStore }: LimiterDefaults): LeaseLimiter {
  rejectUnknownOptions(
    options,
    [
      "name",
      "limit",
      "limits",
      "store",
      "deadlineMs",
      "breaker",
      "onStoreFailure",
      "onDegraded",
      "onRecovered",
    ],
    "createLimiter",
  );
  validateRuleName(options.name, "createLimiter.name");
  const limits = parseLimits(options);
  const store = guardStore(
    parseStore(options.store, "createLimiter.store") ?? openStore(),
    options,
    openStore,
  );
  for (const limit of limits) store.accept?.(limit);
  const { name } = options;
  const levels = limits.map((limit) => ({ rule: name, name: levelName(name, limit), limit }));
  const lease = limits.find(isLeaseLimit);
  // A lease needs an id, which the limits beside it must be able to take.
  if (lease !== undefined) for (const { ledger } of limits) ledger?.validate?.(1, "lease");
  const sole = levels[0] as (typeof levels)[number];
  const decideOne = levels.length === 1 && lease === undefined ? store.decideOne : undefined;

  function checksFor(key: string, options: ConsumeOptions | undefined): Check[] {
    validateKey(key);
    if (options !== undefined && typeof options !== "object") {
      throw new TypeError(`options: ${shown(options)} is not an options object. Write { cost: 5 }.`);
    }
    for (const option in options) {
      if (option !== "cost" && option !== "id")
        throw new TypeError(`options.${option}: there is no such option. Known: cost, id.`);
    }
    const cost = options?.cost === undefined ? 1 : options.cost;
    validateCost(cost);
    const id = options?.id ?? (lease && crypto.randomUUID());
    if (id !== undefined) validateId(id);
    const checks = new Array<Check>(levels.length);
    for (let i = 0; i < levels.length; i++) {
      const level = levels[i] as (typeof levels)[number];
      const { limit } = level;
      // Two literals instead of one with a spread, which would cost as much as the decision's arithmetic.
      checks[i] =
        id === undefined
          ? { rule: name, name: level.name, key, limit, cost }
          : { rule: name, name: level.name, key, limit, cost, id };
    }
    return checks;
  }

  function speak(verdicts: Verdict[]): Verdict {
    if (verdicts.length === 1) return verdicts[0] as Verdict;
    const spoken = spokesman(verdicts) as Verdict;
    Companions.set(spoken, verdicts);
    return spoken;
  }

  function ask(verb: "decide" | "peek", key: string, options: ConsumeOptions | undefined): Promise<Verdict> {
    try {
      const answer = store[verb](checksFor(key, options));
      return isPromise(answer) ? answer.then(speak) : Promise.resolve(speak(answer));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** What a verdict charged, to each limit: it may have come back from another process, without its companions. */
  function chargesOf(verdict: Verdict): Charge[] {
    const verdicts = Companions.of(verdict);
    return levels.map((level, i) => {
      const own = verdicts?.[i] ?? verdict;
      const { key, cost, at, id, source } = own;
      const resetAfterMs = own.name === level.name ? own.resetAfterMs : 0;
      return {
        rule: name,
        key,
        limit: level.limit,
        cost,
        at,
        source,
        resetAfterMs,
        ...(id !== undefined && { id }),
      };
    });
  }

  /** Verdicts with nothing left to give back: refunded before, or only peeked. */
  const settled = new WeakSet<Verdict>();

  return {
    name,
    limits,
    consume(key, options) {
      // Most calls: one limit, no options, a store that answers at once.
      if (decideOne !== undefined && options === undefined && typeof key === "string" && key !== "")
        return decideOne({ rule: name, name: sole.name, key, limit: sole.limit, cost: 1 });
      return ask("decide", key, options);
    },
    async peek(key, options) {
      const verdict = await ask("peek", key, options);
      settled.add(verdict);
      return verdict;
    },

    async refund(charged: Verdict | string, cost?: number) {
      if (typeof charged === "string")
        return store.refund(checksFor(charged, cost === undefined ? undefined : { cost }).map(withoutId));
      if (!isVerdict(charged) || charged.rule !== name) {
        throw new TypeError(
          `refund: ${shown(charged)} is neither a key nor a verdict of limiter ${shown(name)}.`,
        );
      }
      validateKey(charged.key);
      validateCost(charged.cost);
      if (charged.id !== undefined) validateId(charged.id);
      if (!charged.allowed || charged.source === "none" || settled.has(charged)) return;
      settled.add(charged);
      await store.refund(chargesOf(charged));
    },

    async forget(key) {
      await store.forget(checksFor(key, undefined));
    },

    async hold(key, duration) {
      validateKey(key);
      await store.hold(name, key, parseDuration(duration, "hold.duration"));
    },

    async acquire(key, options) {
      if (lease === undefined) {
        throw new TypeError(
          `acquire: limiter ${shown(name)} has no concurrency limit. Make it with concurrency({ limit, leaseFor }).`,
        );
      }
      const id = options?.id ?? crypto.randomUUID();
      const verdict = await ask("decide", key, { ...options, id });
      const { source } = verdict;
      const own = { rule: name, name: levelName(name, lease), key, limit: lease, cost: verdict.cost, id };
      // Where it may stand: a renewal during an outage takes a slot in this process.
      const sources = new Set(verdict.allowed ? [source] : []);
      const release = async (): Promise<void> => {
        const charges = [...sources].map((source) => ({ ...own, source }));
        sources.clear();
        if (charges.length > 0) await store.refund(charges);
      };
      return {
        allowed: verdict.allowed,
        verdict,
        async renew() {
          if (sources.size === 0)
            return { ...verdict, allowed: false, retryAfterMs: Math.max(1, verdict.retryAfterMs) };
          const [renewed] = await store.decide([own]);
          if (renewed?.allowed) sources.add(renewed.source);
          return renewed as Verdict;
        },
        release,
        [Symbol.asyncDispose]: release,
      };
    },
  };
}

/** It may have been through JSON, or a stranger's hands. Key and cost are looked at on their own. */
function isVerdict(charged: Partial<Verdict> | null): boolean {
  return (
    typeof charged === "object" && Number.isFinite(charged?.at) && Number.isFinite(charged?.resetAfterMs)
  );
}

function withoutId({ id: _, ...check }: Check): Charge {
  return check;
}

export function isLeaseLimit(limit: Limit): limit is LeaseLimit {
  return "leaseForMs" in limit;
}

function parseLimits({ limit, limits }: LimiterOptions): Limit[] {
  if ((limit === undefined) === (limits === undefined)) {
    throw new ConfigError(
      "TG_LIMITS",
      "createLimiter",
      "it needs limit or limits, and not both.",
      'Write limit: "100 per hour", or limits: ["100 per minute", "5000 per hour"].',
    );
  }
  return limits === undefined
    ? [parseLimit(limit as LimitLike, "createLimiter.limit")]
    : parseLimitList(limits, "createLimiter.limits");
}

/** Limits that hold together: 1 to 30, each with a place of its own. */
export function parseLimitList(given: readonly LimitLike[], path: string): Limit[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > 30) {
    throw new ConfigError(
      "TG_LIMITS",
      path,
      `${shown(given)} is not a list of limits.`,
      "Give 1 to 30 limits.",
    );
  }
  const parsed = given.map((one, i) => parseLimit(one, `${path}[${i}]`));
  parsed.forEach((one, i) => {
    if (parsed.findIndex((other) => other.id === one.id) !== i) {
      throw new ConfigError(
        "TG_LIMITS_CLASH",
        `${path}[${i}]`,
        "another limit counts in the same place.",
        "Two limits of one kind and window would be one count: keep the smaller.",
      );
    }
  });
  return parsed;
}

/** A plain text means a fixed window. */
function parseLimit(limit: LimitLike, path: string): Limit {
  if (typeof limit === "string") {
    const { amount, perMs } = parseRate(limit, path);
    return fixedWindow({ limit: amount, window: perMs });
  }
  if (
    typeof limit !== "object" ||
    limit === null ||
    typeof limit.step !== "function" ||
    typeof limit.id !== "string"
  ) {
    throw new ConfigError(
      "TG_LIMIT",
      path,
      `${shown(limit)} is not a limit.`,
      'Use a factory such as fixedWindow({ limit, window }), or a text such as "100 per hour".',
    );
  }
  return limit;
}

export function parseStore(store: Store | undefined, path: string): Store | undefined {
  if (store === undefined || typeof store?.decide === "function") return store;
  throw new ConfigError(
    "TG_STORE",
    path,
    `${shown(store)} is not a store.`,
    "Use memoryStore(), redisStore({ client }) or memcachedStore({ servers }).",
  );
}

function validateId(id: unknown): void {
  if (typeof id !== "string" || id === "" || id.length > 256) {
    throw new TypeError(`id: ${shown(id)} can not name a charge. Give a string of 1 to 256 characters.`);
  }
}
