import { type Charge, type Check, costOf, validateChecks, validateCost, validateKey } from "../../check.js";
import { type Clock, checkedClock, systemClock } from "../../clock.js";
import type { Verdict } from "../../decision.js";
import { ConfigError, shown } from "../../errors.js";
import { type Limit, rejectUnknownOptions } from "../../limit.js";
import type { Store, Terms } from "../../store.js";
import { keyText } from "../packed/key-text.js";
import { tooLate } from "./failures.js";
import { type Act, Items } from "./items.js";
import {
  type Bytes,
  type Group,
  groupsOf,
  held,
  type Judgement,
  judge,
  refunded,
  successor,
  verdictsOf,
} from "./judgement.js";
import { type MemcachedClient, memcachedClient } from "./memcached-client.js";

export interface MemcachedStoreOptions {
  /** `["127.0.0.1:11211"]`. All processes must list the same ones. Or hand in a `client`. */
  servers?: readonly string[];
  /** Made by `memcachedClient`, to be shared. It stays yours: closing the store leaves it open. */
  client?: MemcachedClient;
  /** All items begin with it. Default `"tg"`. */
  prefix?: string;
  /** Default: this process's own, for memcached has none to give. Processes that share counts must agree on the time. */
  clock?: Clock;
  /** Told once when a state is found corrupt. Default: `console.warn`. */
  onWarning?: (message: string) => void;
}

export interface MemcachedStore extends Store {
  /** Items found corrupt or written by someone else, and begun afresh, since this store was made. */
  readonly resets: number;
}

/**
 * Counts in memcached 1.6 and later, by compare and swap: exactly the limit passes, from however many processes. Takes
 * limits of constant size only, and reads this process's clock. Counts are lost when memcached evicts or restarts.
 */
export function memcachedStore(options: MemcachedStoreOptions): MemcachedStore {
  rejectUnknownOptions(options, ["servers", "client", "prefix", "clock", "onWarning"], "memcachedStore");
  return new MemcachedStoreOverCas(options);
}

/** Longer than they have something to say, items are kept: memcached counts in whole seconds, and clocks differ. */
const slackSeconds = 10;
/** Longer still when the time is not the real one (tests, replay): memcached's own clock runs on. */
const graceSeconds = 3600;

class MemcachedStoreOverCas implements MemcachedStore {
  resets = 0;
  readonly close: () => void;
  readonly #client: MemcachedClient;
  readonly #items: Items;
  readonly #prefix: string;
  readonly #clock: Clock;

  constructor(options: MemcachedStoreOptions) {
    const { prefix, onWarning = console.warn } = options;
    const clock =
      options.clock === undefined ? systemClock : checkedClock(options.clock, "memcachedStore.clock");
    this.#prefix = parsePrefix(prefix);
    this.#client = clientOf(options);
    this.#clock = clock;
    this.close = options.client === undefined ? () => this.#client.close() : () => {};
    const slack = slackSeconds + (options.clock === undefined ? 0 : graceSeconds);
    this.#items = new Items({
      client: this.#client,
      ttlSeconds: (ends) => Math.max(0, ends - this.#clock()) / 1000 + slack,
      onReset: () => {
        if (this.resets++ === 0)
          onWarning(
            `Tidegate: memcached held a state under ${this.#prefix}: that was corrupt or not Tidegate's. It was begun afresh. [TG_STATE_CORRUPT]`,
          );
      },
    });
  }

  accept(limit: Limit): void {
    if (limit.ledger === undefined && limit.cells > 0) return;
    throw new ConfigError(
      "TG_MEMCACHED_LEDGER",
      "limit",
      `memcached can not keep ${shown(limit.kind)}, whose state grows with use.`,
      "Use a limit of constant size (fixedWindow, slidingCounter, tokenBucket, earrrl), or redisStore.",
    );
  }

  async decide(checks: readonly Check[], terms?: Terms): Promise<Verdict[]> {
    const hits = this.#hits(checks, terms);
    if (hits.length === 1) await this.#carryOut("charge", hits[0] as Hit);
    else await this.#decideTogether(hits);
    if (hits.some(isLate)) {
      // The caller has its answer elsewhere: what was charged all the same must not count twice.
      void this.#giveBack(hits, nothing);
      throw tooLate();
    }
    const passes = allPass(hits);
    if (!passes) await this.#giveBack(hits, (limit) => limit.refusedWeight);
    return inOrder(hits, passes);
  }

  async peek(checks: readonly Check[], terms?: Terms): Promise<Verdict[]> {
    const hits = this.#hits(checks, terms);
    await Promise.all(hits.map((hit) => this.#carryOut("look", hit)));
    return inOrder(hits, "peek");
  }

  async refund(charges: readonly Charge[], terms?: Terms): Promise<void> {
    for (const charge of charges) {
      validateKey(charge.key);
      validateCost(costOf(charge));
      this.accept(charge.limit);
    }
    const notAfter = notAfterOf(terms);
    await Promise.all(
      groupsOf(charges, this.#itemOf).map(({ item, checks }) =>
        this.#items.act(item, {
          notAfter,
          apply: (bytes) => {
            const now = this.#clock();
            return checks.reduce((before, charge) => refunded(before, charge, now), bytes);
          },
        }),
      ),
    );
  }

  async hold(rule: string, key: string, forMs: number, terms?: Terms): Promise<void> {
    validateKey(key);
    await this.#items.act(this.#itemOf(rule, key), {
      notAfter: notAfterOf(terms),
      apply: (bytes) => held(bytes, this.#clock(), forMs),
    });
  }

  async forget(checks: readonly Check[], terms?: Terms): Promise<void> {
    for (const check of checks) validateKey(check.key);
    const notAfter = notAfterOf(terms);
    const items = new Set(checks.map(({ rule, key }) => this.#itemOf(rule, key)));
    await Promise.all(Array.from(items, (item) => this.#client.delete(item, { notAfter })));
  }

  #itemOf = (rule: string, key: string): string =>
    `${this.#prefix}:{${keyText(key)}}:${keyText(rule).replaceAll(":", "%3A")}`;

  #hits(checks: readonly Check[], terms: Terms | undefined): Hit[] {
    validateChecks(checks);
    for (const { limit } of checks) this.accept(limit);
    const notAfter = notAfterOf(terms);
    return groupsOf(checks, this.#itemOf).map((group) => new Hit(group, this.#clock, notAfter));
  }

  /**
   * Several items: all are looked at, and charged only if all allow. One that changed in between may yet refuse; then what
   * the others charged is given back: meanwhile another request may be refused wrongly, none is let through wrongly.
   */
  async #decideTogether(hits: readonly Hit[]): Promise<void> {
    for (const { group } of hits) this.#items.visit(group.item);
    try {
      await Promise.all(hits.map((hit) => this.#carryOut("look", hit)));
      const passes = allPass(hits);
      const outcomes = await Promise.allSettled(
        hits
          .filter((hit) => passes || hit.countsRefused)
          .map((hit) => this.#carryOut(passes ? "charge" : "refuse", hit)),
      );
      for (const outcome of outcomes) {
        if (outcome.status === "fulfilled") continue;
        void this.#giveBack(hits, nothing);
        throw outcome.reason;
      }
    } finally {
      for (const { group } of hits) this.#items.leave(group.item);
    }
  }

  async #carryOut(stage: Hit["stage"], hit: Hit): Promise<void> {
    hit.stage = stage;
    await this.#items.act(hit.group.item, hit);
    hit.isDone = stage !== "look";
  }

  /** All that was charged but the share kept. What can not be given back stays: the safe side. */
  async #giveBack(hits: readonly Hit[], kept: (limit: Limit) => number): Promise<void> {
    const charges = hits.flatMap((hit) => hit.receipt(kept));
    if (charges.length > 0) await this.refund(charges).catch(() => {});
  }
}

/** One group of a decision, on its way to its item. */
class Hit implements Act {
  readonly group: Group;
  readonly notAfter: number;
  /** Look only, charge if all here allow, or count as a refused hit because someone refused. */
  stage: "look" | "charge" | "refuse" = "look";
  /** The item was changed accordingly. */
  isDone = false;
  judgement!: Judgement;
  readonly #clock: Clock;

  constructor(group: Group, clock: Clock, notAfter: number) {
    this.group = group;
    this.#clock = clock;
    this.notAfter = notAfter;
  }

  get countsRefused(): boolean {
    return this.group.plan.some(({ refusedWeight }) => refusedWeight > 0);
  }

  apply(bytes: Bytes): Bytes {
    // Read when the item is in hand: a charge dated before its window began could not be given back.
    const judgement = judge(this.group, bytes, this.#clock());
    // What made a decision refuse is what its verdicts say, even if the item allows by now.
    if (this.stage !== "refuse") this.judgement = judgement;
    if (this.stage === "look") return bytes;
    const passes = this.stage === "charge" && judgement.passes;
    return successor(this.group, judgement, passes) ?? bytes;
  }

  /** What it charged above the share that is kept. */
  receipt(kept: (limit: Limit) => number): Charge[] {
    if (!this.isDone) return [];
    const passed = this.stage === "charge" && this.judgement.passes;
    const verdicts = verdictsOf(this.group, this.judgement, passed);
    return this.group.checks.flatMap((check, i) => {
      const { limit } = check;
      const charged = passed && this.judgement.allowed[i] ? 1 : limit.refusedWeight;
      const share = charged - kept(limit);
      if (share <= 0) return [];
      const { resetAfterMs } = verdicts[i] as Verdict;
      return { ...check, cost: costOf(check) * share, at: this.judgement.now, resetAfterMs };
    });
  }
}

const nothing = () => 0;

function allPass(hits: readonly Hit[]): boolean {
  return hits.every(({ judgement }) => judgement.passes);
}

function isLate({ notAfter }: Hit): boolean {
  return notAfter < performance.now();
}

function notAfterOf(terms: Terms | undefined): number {
  return terms?.deadlineMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + terms.deadlineMs;
}

function inOrder(hits: readonly Hit[], passes: boolean | "peek"): Verdict[] {
  const verdicts: Verdict[] = [];
  for (const { group, judgement } of hits) {
    verdictsOf(group, judgement, passes).forEach((verdict, i) => {
      verdicts[group.at[i] as number] = verdict;
    });
  }
  return verdicts;
}

/** `%` would let a prefix forge the digest that stands for a long key. */
function parsePrefix(prefix: unknown = "tg"): string {
  if (typeof prefix === "string" && /^[\x21-\x24\x26-\x7a\x7c\x7e]{1,64}$/.test(prefix)) return prefix;
  throw new ConfigError(
    "TG_PREFIX",
    "memcachedStore.prefix",
    `${shown(prefix)} can not be a prefix.`,
    "Use 1 to 64 printable characters without spaces and %.",
  );
}

function clientOf({ client, servers }: MemcachedStoreOptions): MemcachedClient {
  if ((client === undefined) === (servers === undefined)) {
    throw new ConfigError(
      "TG_MEMCACHED_SERVERS",
      "memcachedStore",
      "it needs servers or a client, and not both.",
      'Write servers: ["127.0.0.1:11211"], or client: memcachedClient({ servers }).',
    );
  }
  if (client === undefined) return memcachedClient({ servers: servers as readonly string[] });
  if (typeof client?.get === "function" && typeof client.put === "function") return client;
  throw new ConfigError(
    "TG_MEMCACHED_SERVERS",
    "memcachedStore.client",
    "this is not a client Tidegate can use: others give no cas numbers.",
    "Hand in memcachedClient({ servers }), or give servers.",
  );
}
