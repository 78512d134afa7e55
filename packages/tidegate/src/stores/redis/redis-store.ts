import { type Charge, type Check, costOf, validateChecks, validateCost, validateKey } from "../../check.js";
import { type Clock, checkedClock } from "../../clock.js";
import type { Verdict } from "../../decision.js";
import type { Directory } from "../../directory.js";
import type { Docket } from "../../docket.js";
import { ConfigError, shown } from "../../errors.js";
import { type Limit, rejectUnknownOptions } from "../../limit.js";
import { declareOwn, type Store, type Terms } from "../../store.js";
import { keyText } from "../packed/key-text.js";
import { type Asking, type Call, Mode, writeHold, writeRefund, writeRequests } from "./batch.js";
import { type Batch, Batching } from "./batching.js";
import { ledgerKey } from "./call-keys.js";
import { Calls, storeFailure } from "./calls.js";
import { type Connection, connectionTo, type RedisClient } from "./connection.js";
import type { Templates } from "./directory/layout.js";
import { redisDirectory } from "./directory/redis-directory.js";
import { Dockets } from "./dockets.js";
import { groupsOf } from "./plan.js";
import { allPass, type Reply, verdictsOf } from "./reply.js";
import { CheckRequest } from "./requests.js";

export interface RedisStoreOptions {
  /** Yours: ioredis 5/6 or node-redis 5/6, single server or cluster. It stays yours; closing the store leaves it open. */
  client: RedisClient;
  /** All keys begin with it. Default `"tg"`. */
  prefix?: string;
  /** For tests and replay. Without it the time is Redis's own. */
  clock?: Clock;
  /** Where a gate's lists and customers live, if not at their usual keys under the prefix. */
  templates?: Templates;
  /** Told once of a setting of the server that can lose counts, and of states found corrupt. Default: `console.warn`. */
  onWarning?: (message: string) => void;
}

export interface RedisStore extends Store {
  /** Keys found corrupt or of a foreign type, and begun afresh, since this store was made. */
  readonly resets: number;
}

/** Counts in Redis 6.2 or Valkey 7.2 and later: one round trip per request; requests of the same tick share one. */
export function redisStore(options: RedisStoreOptions): RedisStore {
  rejectUnknownOptions(options, ["client", "prefix", "clock", "templates", "onWarning"], "redisStore");
  const { client, prefix = "tg", clock, templates = {} } = options;
  if (typeof prefix !== "string" || !/^[\x21-\x7a\x7c\x7e]{1,64}$/.test(prefix)) {
    throw new ConfigError(
      "TG_PREFIX",
      "redisStore.prefix",
      `${shown(prefix)} can not be a prefix.`,
      "Use 1 to 64 printable characters without spaces and braces.",
    );
  }
  const store = new RedisStoreOverScript(
    connectionTo(client),
    prefix,
    clock && checkedClock(clock, "redisStore.clock"),
    options.onWarning ?? console.warn,
  );
  store.openDirectory = () =>
    redisDirectory({ client, prefix, templates, ...(store.clock && { clock: store.clock }) });
  return store;
}

/** Rules are few; whoever makes up their names makes this remember no more. */
const mostKeyEnds = 1000;

class RedisStoreOverScript implements RedisStore {
  resets = 0;
  openDirectory?: () => Directory;
  /** Not on a cluster, where keys live apart. */
  askDocket?: (docket: Docket, deadlineMs: number) => Promise<Verdict[]> | undefined;
  readonly keepsDeadlines = true;
  readonly clock?: Clock;
  readonly #connection: Connection;
  readonly #prefix: string;
  readonly #warn: (message: string) => void;
  readonly #calls: Calls;
  readonly #batching = new Batching((batch) => this.#send(batch));
  /** A key is one client's between the beginning all have and the end all of its rule have. */
  readonly #keyStart: string;
  readonly #keyEnds = new Map<string, string>();

  constructor(
    connection: Connection,
    prefix: string,
    clock: Clock | undefined,
    warn: (message: string) => void,
  ) {
    this.#connection = connection;
    this.#prefix = prefix;
    if (clock !== undefined) this.clock = clock;
    this.#warn = warn;
    this.#calls = new Calls(connection, { tellsServerTime: clock === undefined, warn });
    this.#keyStart = `${prefix}:{`;
    const dockets = new Dockets(this.#keyStart, (rule) => this.#keyEndOf(rule));
    if (!connection.isCluster)
      this.askDocket = (docket, deadlineMs) => {
        const request = dockets.requestOf(docket);
        return request && this.#batching.ask(Mode.decide, request, deadlineMs);
      };
    declareOwn(this, { isSure: false });
  }

  /** Planning throws for a limit without a Lua twin. */
  accept(limit: Limit): void {
    groupsOf([{ rule: "accept", key: "accept", limit }]);
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
    await this.#calls.inTime(dropped, terms?.deadlineMs).catch((error) => {
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
    return `${this.#keyStart}${keyText(key)}${this.#keyEnds.get(rule) ?? this.#keyEndOf(rule)}`;
  };

  #keyEndOf(rule: string): string {
    const end = `}:${keyText(rule).replaceAll(":", "%3A")}`;
    if (this.#keyEnds.size >= mostKeyEnds) this.#keyEnds.clear();
    this.#keyEnds.set(rule, end);
    return end;
  }

  #now(): number {
    return this.clock === undefined ? Number.NaN : this.clock();
  }

  #ask(mode: Asking, checks: readonly Check[], terms: Terms | undefined): Promise<Verdict[]> {
    validateChecks(checks);
    if (checks.length === 0) return Promise.resolve([]);
    const deadlineMs = terms?.deadlineMs ?? Number.POSITIVE_INFINITY;
    if (this.#connection.isCluster) return this.#askCluster(mode, checks, deadlineMs);
    return this.#batching.ask(mode, new CheckRequest(checks), deadlineMs);
  }

  async #send({ mode, deadlineMs, waiting }: Batch): Promise<void> {
    try {
      const requests = waiting.map(({ request }) => request);
      const reply = await this.#run(
        (notAfter) => writeRequests(mode, requests, this.#keyOf, this.#now(), notAfter),
        deadlineMs,
      );
      for (const { request, resolve } of waiting) resolve(request.verdictsIn(reply, mode === Mode.peek));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /**
   * Keys of a cluster live apart: one call per key, in parallel. If one refuses or fails, what the others charged is given
   * back; until then another request may be refused wrongly, none is let through wrongly.
   */
  async #askCluster(mode: Asking, checks: readonly Check[], deadlineMs: number): Promise<Verdict[]> {
    const outcomes = await Promise.allSettled(
      byKey(checks).map(async (some) => {
        const request = new CheckRequest(some);
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
      if (failed === undefined) await this.#calls.inTime(givingBack, deadlineMs).catch(() => {});
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

  async #run(write: (notAfter: number) => Call, deadlineMs?: number): Promise<Reply> {
    const reply = await this.#calls.run(write, deadlineMs);
    if (reply.resets > 0) this.#countResets(reply.resets);
    return reply;
  }

  #countResets(resets: number): void {
    if (this.resets === 0)
      this.#warn(
        `Tidegate: Redis held ${resets} state(s) under ${this.#prefix}: that were corrupt or not Tidegate's. They were begun afresh. [TG_STATE_CORRUPT]`,
      );
    this.resets += resets;
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
