import { type Charge, type Check, costOf, validateChecks, validateCost, validateKey } from "../../check.js";
import { type Clock, checkedClock } from "../../clock.js";
import { Deadlines } from "../../deadlines.js";
import type { Verdict } from "../../decision.js";
import { ConfigError, StoreError, shown } from "../../errors.js";
import { type Limit, rejectUnknownOptions } from "../../limit.js";
import type { Store, Terms } from "../../store.js";
import { keyText } from "../packed/key-text.js";
import {
  allPass,
  type Call,
  isVoid,
  ledgerKey,
  Mode,
  Reply,
  type Request,
  requestOf,
  verdictsOf,
  voidCall,
  writeHold,
  writeRefund,
  writeRequests,
} from "./batch.js";
import { type Connection, connectionTo, type RedisClient } from "./connection.js";
import { ServerClock } from "./server-clock.js";

export interface RedisStoreOptions {
  /** Yours: ioredis 5/6 or node-redis 5/6, single server or cluster. It stays yours; closing the store leaves it open. */
  client: RedisClient;
  /** All keys begin with it. Default `"tg"`. */
  prefix?: string;
  /** For tests and replay. Without it the time is Redis's own. */
  clock?: Clock;
  /** Told once of a setting of the server that can lose counts, and of states found corrupt. Default: `console.warn`. */
  onWarning?: (message: string) => void;
}

export interface RedisStore extends Store {
  /** Keys found corrupt or of a foreign type, and begun afresh, since this store was made. */
  readonly resets: number;
}

/** Counts in Redis 6.2 or Valkey 7.2 and later: one round trip per request; requests of the same tick share one. */
export function redisStore(options: RedisStoreOptions): RedisStore {
  rejectUnknownOptions(options, ["client", "prefix", "clock", "onWarning"], "redisStore");
  const { prefix = "tg", clock } = options;
  if (typeof prefix !== "string" || !/^[\x21-\x7a\x7c\x7e]{1,64}$/.test(prefix)) {
    throw new ConfigError(
      "TG_PREFIX",
      "redisStore.prefix",
      `${shown(prefix)} can not be a prefix.`,
      "Use 1 to 64 printable characters without spaces and braces.",
    );
  }
  return new RedisStoreOverScript(
    connectionTo(options.client),
    prefix,
    clock && checkedClock(clock, "redisStore.clock"),
    options.onWarning ?? console.warn,
  );
}

/** So many requests, and checks in all of them, share one call at most: Redis does nothing else while a script runs. */
const batchSize = 32;
const batchChecks = 1024;

interface Waiting {
  readonly request: Request;
  readonly resolve: (verdicts: Verdict[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What goes into one call. */
interface Batch {
  readonly mode: typeof Mode.decide | typeof Mode.peek;
  readonly deadlineMs: number;
  readonly waiting: Waiting[];
  checks: number;
}

/** One call under way, and until when it counts. */
interface Attempt {
  readonly began: number;
  readonly deadlineMs: number;
  call: Call | undefined;
}

class RedisStoreOverScript implements RedisStore {
  resets = 0;
  readonly keepsDeadlines = true;
  readonly #connection: Connection;
  readonly #prefix: string;
  readonly #clock: Clock | undefined;
  readonly #warn: (message: string) => void;
  readonly #serverClock = new ServerClock();
  readonly #inFlight = new Set<Call>();
  readonly #deadlines = new Map<number, Deadlines>();
  #introduction: Promise<void> | undefined;
  #lastRule = "";
  #lastRuleText = "";
  readonly #batches: Batch[] = [];

  constructor(
    connection: Connection,
    prefix: string,
    clock: Clock | undefined,
    warn: (message: string) => void,
  ) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#warn = warn;
    connection.onBreak(() => this.#inFlight.forEach(voidCall));
  }

  /** Planning throws for a limit without a Lua twin. */
  accept(limit: Limit): void {
    requestOf([{ rule: "accept", key: "accept", limit }]);
  }

  decide(checks: readonly Check[], terms?: Terms): Promise<Verdict[]> {
    return this.#ask(Mode.decide, checks, terms);
  }

  peek(checks: readonly Check[], terms?: Terms): Promise<Verdict[]> {
    return this.#ask(Mode.peek, checks, terms);
  }

  async refund(charges: readonly Charge[], terms?: Terms): Promise<void> {
    for (const charge of charges) {
      validateKey(charge.key);
      validateCost(costOf(charge));
    }
    if (charges.length === 0) return;
    const together = this.#connection.isCluster ? byKey(charges) : [charges];
    await Promise.all(
      together
        .flatMap(oneCharge)
        .map((some) =>
          this.#run((notAfter) => writeRefund(some, this.#keyOf, this.#now(), notAfter), terms?.deadlineMs),
        ),
    );
  }

  async hold(rule: string, key: string, forMs: number, terms?: Terms): Promise<void> {
    validateKey(key);
    await this.#run(
      (notAfter) => writeHold(this.#keyOf(rule, key), forMs, this.#now(), notAfter),
      terms?.deadlineMs,
    );
  }

  async forget(checks: readonly Check[], terms?: Terms): Promise<void> {
    for (const check of checks) validateKey(check.key);
    if (checks.length === 0) return;
    const together = this.#connection.isCluster ? byKey(checks) : [checks];
    const dropped = Promise.all(together.map((some) => this.#drop(some)));
    await this.#inTime(dropped, terms?.deadlineMs).catch((error) => {
      throw storeFailure(error);
    });
  }

  #drop(checks: readonly Check[]): Promise<unknown> {
    const keys = new Set<string>();
    for (const check of checks) {
      const key = this.#keyOf(check.rule, check.key);
      keys.add(key);
      if (check.limit.ledger !== undefined) keys.add(ledgerKey(key, check.limit));
    }
    return this.#connection.command(["UNLINK", ...keys], keys.values().next().value);
  }

  #keyOf = (rule: string, key: string): string => {
    if (rule !== this.#lastRule) {
      this.#lastRule = rule;
      this.#lastRuleText = keyText(rule).replaceAll(":", "%3A");
    }
    return `${this.#prefix}:{${keyText(key)}}:${this.#lastRuleText}`;
  };

  #now(): number {
    return this.#clock === undefined ? Number.NaN : this.#clock();
  }

  #ask(mode: Batch["mode"], checks: readonly Check[], terms: Terms | undefined): Promise<Verdict[]> {
    validateChecks(checks);
    if (checks.length === 0) return Promise.resolve([]);
    const deadlineMs = terms?.deadlineMs ?? Number.POSITIVE_INFINITY;
    if (this.#connection.isCluster) return this.#askCluster(mode, checks, deadlineMs);
    return new Promise((resolve, reject) => {
      const batch = this.#batchFor(mode, checks.length, deadlineMs);
      batch.checks += checks.length;
      batch.waiting.push({ request: requestOf(checks), resolve, reject });
    });
  }

  /** The last batch if there is room in it and it is of this kind, else a new one behind it. */
  #batchFor(mode: Batch["mode"], checks: number, deadlineMs: number): Batch {
    const last = this.#batches.at(-1);
    if (
      last !== undefined &&
      last.waiting.length < batchSize &&
      last.checks + checks <= batchChecks &&
      last.mode === mode &&
      last.deadlineMs === deadlineMs
    )
      return last;
    const batch: Batch = { mode, deadlineMs, checks: 0, waiting: [] };
    if (this.#batches.push(batch) === 1) queueMicrotask(this.#sendNext);
    return batch;
  }

  /** One batch at a time is written, so that Redis works on the first while the next is being made. */
  #sendNext = (): void => {
    const batch = this.#batches.shift();
    if (this.#batches.length > 0) setImmediate(this.#sendNext);
    if (batch !== undefined) void this.#send(batch);
  };

  async #send({ mode, deadlineMs, waiting }: Batch): Promise<void> {
    try {
      const requests = waiting.map(({ request }) => request);
      const reply = await this.#run(
        (notAfter) => writeRequests(mode, requests, this.#keyOf, this.#now(), notAfter),
        deadlineMs,
      );
      for (const { request, resolve } of waiting) {
        const findings = reply.next(request);
        resolve(verdictsOf(findings, reply.now, allPass(findings), mode === Mode.peek));
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /**
   * Keys of a cluster live apart: one call per key, in parallel. If one refuses or fails, what the others charged is given
   * back; until then another request may be refused wrongly, none is let through wrongly.
   */
  async #askCluster(mode: Batch["mode"], checks: readonly Check[], deadlineMs: number): Promise<Verdict[]> {
    const outcomes = await Promise.allSettled(
      byKey(checks).map(async (some) => {
        const request = requestOf(some);
        const reply = await this.#run(
          (notAfter) => writeRequests(mode, [request], this.#keyOf, this.#now(), notAfter),
          deadlineMs,
        );
        return { reply, findings: reply.next(request) };
      }),
    );
    const parts = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    const passes = failed === undefined && parts.every(({ findings }) => allPass(findings));
    if (!passes && mode === Mode.decide) {
      const charged = parts.filter(({ findings }) => allPass(findings));
      const givingBack = this.refund(
        charged.flatMap(({ findings, reply }) => givenBack(findings, reply.now)),
      );
      // The answer is known: it waits for this as long as for the store, then goes out while this goes on.
      if (failed === undefined) await this.#inTime(givingBack, deadlineMs).catch(() => {});
      else givingBack.catch(() => {});
    }
    if (failed !== undefined) throw failed.reason;
    const verdicts = new Map<Check, Verdict>();
    for (const { findings, reply } of parts) {
      verdictsOf(findings, reply.now, passes, mode === Mode.peek).forEach((verdict, i) => {
        verdicts.set((findings[i] as (typeof findings)[number]).check, verdict);
      });
    }
    return checks.map((check) => verdicts.get(check) as Verdict);
  }

  /** Runs the script, or rejects by the deadline; what is still under way then has no effect. */
  #run(write: (notAfter: number) => Call, deadlineMs = Number.POSITIVE_INFINITY): Promise<Reply> {
    const attempt: Attempt = { began: performance.now(), deadlineMs, call: undefined };
    return this.#inTime(this.#try(write, attempt), deadlineMs, () => attempt.call && voidCall(attempt.call));
  }

  #inTime<T>(answer: Promise<T>, deadlineMs = Number.POSITIVE_INFINITY, onLate?: () => void): Promise<T> {
    return deadlineMs === Number.POSITIVE_INFINITY
      ? answer
      : this.#deadlinesOf(deadlineMs).race(answer, onLate);
  }

  async #try(write: (notAfter: number) => Call, attempt: Attempt): Promise<Reply> {
    if (!this.#serverClock.isKnown) await this.#introduce();
    for (;;) {
      const sentMs = performance.now();
      if (sentMs - attempt.began >= attempt.deadlineMs) throw tooLate();
      const call = write(this.#serverClock.at(attempt.began + attempt.deadlineMs));
      attempt.call = call;
      this.#inFlight.add(call);
      let reply: Reply;
      try {
        reply = new Reply(await this.#connection.run(call.keys, call.input, call.ids));
      } catch (error) {
        throw storeFailure(error);
      } finally {
        this.#inFlight.delete(call);
      }
      if (reply.isLate || this.#clock === undefined)
        this.#serverClock.learn(reply.now, sentMs, performance.now());
      if (!reply.isLate) {
        if (reply.resets > 0) this.#countResets(reply.resets);
        return reply;
      }
      if (isVoid(call)) throw tooLate();
      // Late while there was time: the server's clock was set forward. Nothing was counted, so it is sent again.
    }
  }

  #deadlinesOf(deadlineMs: number): Deadlines {
    let deadlines = this.#deadlines.get(deadlineMs);
    if (deadlines === undefined) {
      deadlines = new Deadlines(deadlineMs);
      this.#deadlines.set(deadlineMs, deadlines);
    }
    return deadlines;
  }

  #countResets(resets: number): void {
    if (this.resets === 0)
      this.#warn(
        `Tidegate: Redis held ${resets} state(s) under ${this.#prefix}: that were corrupt or not Tidegate's. They were begun afresh. [TG_STATE_CORRUPT]`,
      );
    this.resets += resets;
  }

  /** Once, before the first call: what time is it there, and does the server drop keys when it is full? */
  #introduce(): Promise<void> {
    this.#introduction ??= this.#meet().finally(() => {
      this.#introduction = undefined;
    });
    return this.#introduction;
  }

  async #meet(): Promise<void> {
    const sentMs = performance.now();
    try {
      const [time, memory] = await Promise.all([
        this.#connection.command(["TIME"]),
        this.#connection.command(["INFO", "memory"]).catch(() => ""),
      ]);
      const [seconds, micros] = time as [unknown, unknown];
      const serverMs = Number(String(seconds)) * 1000 + Number(String(micros)) / 1000;
      this.#serverClock.learn(serverMs, sentMs, performance.now());
      this.#warnOfEviction(String(memory));
    } catch (error) {
      throw storeFailure(error);
    }
  }

  #warnOfEviction(memory: string): void {
    const policy = /^maxmemory_policy:([a-z-]+)/m.exec(memory)?.[1];
    const hasLimit = /^maxmemory:[1-9]/m.test(memory);
    if (hasLimit && policy !== undefined && policy !== "noeviction") {
      this.#warn(
        `Tidegate: this Redis has maxmemory-policy ${policy} and drops keys when it is full, counts and holds among them. Give Tidegate a Redis of its own with noeviction, or room enough. [TG_REDIS_EVICTS]`,
      );
    }
  }
}

/** What a decision refused elsewhere must give back here: all but what a refused hit would have weighed. */
function givenBack(findings: ReturnType<Reply["next"]>, at: number): Charge[] {
  return findings
    .filter(
      ({ allowed, check, cells }) =>
        allowed && check.limit.refusedWeight < 1 && !check.limit.ledger?.knows?.(cells),
    )
    .map(({ check }) => ({ ...check, cost: costOf(check) * (1 - check.limit.refusedWeight), at }));
}

function byKey<T extends Check>(checks: readonly T[]): T[][] {
  const parts = new Map<string, T[]>();
  for (const check of checks) {
    const part = parts.get(check.key);
    if (part === undefined) parts.set(check.key, [check]);
    else part.push(check);
  }
  return [...parts.values()];
}

/** The script takes what one rule charged to one key as one charge: of one time and id, each limit once. */
function oneCharge(charges: readonly Charge[]): Charge[][] {
  const parts: Charge[][] = [];
  for (const charge of charges) {
    const part = parts.find((some) => some.every((other) => areApart(charge, other)));
    if (part === undefined) parts.push([charge]);
    else part.push(charge);
  }
  return parts;
}

function areApart(a: Charge, b: Charge): boolean {
  if (a.rule !== b.rule || a.key !== b.key) return true;
  return a.limit.id !== b.limit.id && a.at === b.at && a.id === b.id;
}

function storeFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StoreError(
    "TG_STORE_UNREACHABLE",
    "redis",
    message,
    "See that Redis is up, reachable, writable and not out of memory.",
    {
      transient: true,
      cause: error,
    },
  );
}

function tooLate(): StoreError {
  return new StoreError(
    "TG_STORE_LATE",
    "redis",
    "the call reached Redis too late and had no effect.",
    "Redis or the way to it was slow, or the connection broke.",
    {
      transient: true,
    },
  );
}
