import { setTimeout as sleep } from "node:timers/promises";
import type { StoreError } from "../../errors.js";
import { endOf } from "../packed/packed-state.js";
import { contended, tooLate } from "./failures.js";
import type { Bytes } from "./judgement.js";
import type { MemcachedClient, MemcachedItem } from "./memcached-client.js";

/** Something done to one item. */
export interface Act {
  /** Answers the item's successor, or the very same bytes when nothing changes. Runs anew whenever someone else was faster. */
  apply(bytes: Bytes): Bytes;
  /** On performance.now(): from then on it must have no effect. */
  readonly notAfter: number;
}

export interface ItemsOptions {
  readonly client: MemcachedClient;
  /** How long memcached must keep a state that has something to say until then. */
  readonly ttlSeconds: (ends: number) => number;
  /** An item that held something else was begun afresh. */
  readonly onReset: () => void;
}

interface Waiting {
  readonly act: Act;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Item {
  readonly key: string;
  waiting: Waiting[];
  isBusy: boolean;
  /** Decisions that will come back to it. */
  visitors: number;
  /** As last seen. Good enough to write on, since cas proves it; never to answer from without a write. */
  known: MemcachedItem | undefined;
}

const maxTries = 64;
/** So many retries follow at once; later ones leave each other time. */
const eagerTries = 4;
const longestPauseMs = 16;
const batchSize = 1024;

/**
 * Items of memcached, changed by reading, working out the successor, and writing it if nobody else wrote meanwhile. All
 * that this process wants of one item at the same time is done in one such round, so only other processes contend.
 */
export class Items {
  readonly #options: ItemsOptions;
  readonly #items = new Map<string, Item>();

  constructor(options: ItemsOptions) {
    this.#options = options;
  }

  act(key: string, act: Act): Promise<void> {
    const item = this.#open(key);
    return new Promise((resolve, reject) => {
      item.waiting.push({ act, resolve, reject });
      if (!item.isBusy) void this.#work(item);
    });
  }

  /** Keeps in mind what is seen of an item, until `leave`: for an act that will follow soon. */
  visit(key: string): void {
    this.#open(key).visitors++;
  }

  leave(key: string): void {
    const item = this.#open(key);
    item.visitors--;
    this.#tidy(item);
  }

  #open(key: string): Item {
    let item = this.#items.get(key);
    if (item === undefined) {
      item = { key, waiting: [], isBusy: false, visitors: 0, known: undefined };
      this.#items.set(key, item);
    }
    return item;
  }

  #tidy(item: Item): void {
    if (!item.isBusy && item.visitors === 0) this.#items.delete(item.key);
  }

  async #work(item: Item): Promise<void> {
    item.isBusy = true;
    while (item.waiting.length > 0) {
      const batch = item.waiting.splice(0, batchSize);
      try {
        await this.#carryOut(item, batch);
      } catch (error) {
        item.known = undefined;
        for (const { reject } of batch) reject(error);
      }
    }
    item.isBusy = false;
    this.#tidy(item);
  }

  async #carryOut(item: Item, batch: Waiting[]): Promise<void> {
    const { client, ttlSeconds, onReset } = this.#options;
    for (let tries = 0; tries < maxTries; tries++) {
      if (tries > eagerTries)
        await sleep(Math.random() * Math.min(longestPauseMs, 2 ** (tries - eagerTries)));
      const isRemembered = item.known !== undefined;
      item.known ??= await client.get(item.key);
      batch = inTime(batch);
      if (batch.length === 0) return;
      const { value, version } = item.known;
      const isCorrupt = value !== undefined && Number.isNaN(endOf(value));
      const before = isCorrupt ? undefined : value;
      let after: Bytes = before;
      for (const { act } of batch) after = act.apply(after);
      if (after === before || after === undefined) {
        if (!isRemembered) return settle(batch);
        item.known = undefined;
        continue;
      }
      const put = await client.put(item.key, after, version, {
        ttlSeconds: ttlSeconds(endOf(after)),
        notAfter: Math.min(...batch.map(({ act }) => act.notAfter)),
      });
      item.known = put.version && { value: after, version: put.version };
      if (put.isStored) {
        if (isCorrupt) onReset();
        return settle(batch);
      }
    }
    throw contended(maxTries);
  }
}

function settle(batch: readonly Waiting[]): void {
  for (const { resolve } of batch) resolve();
}

/** Turns away those whose caller waits no more. */
function inTime(batch: Waiting[]): Waiting[] {
  const now = performance.now();
  if (batch.every(({ act }) => act.notAfter >= now)) return batch;
  let error: StoreError | undefined;
  return batch.filter(({ act, reject }) => {
    if (act.notAfter >= now) return true;
    error ??= tooLate();
    reject(error);
    return false;
  });
}
