import type { PendingCustomer, PendingCustomers } from "../../data.js";
import type { Send } from "./commands.js";
import { readKept } from "./read-kept.js";

export interface RedisPendingOptions {
  readonly send: Send;
  readonly prefix: string;
  readonly now: () => number;
}

/** A hash, id to write. */
export function redisPending({ send, prefix, now }: RedisPendingOptions): PendingCustomers {
  const key = `${prefix}:pending`;
  return {
    async add(write) {
      // Should the counter be lost, no number in use is given again.
      for (;;) {
        const id = Number(await send("INCR", `${key}:last`));
        const text = JSON.stringify({ ...write, at: now(), id });
        if (Number(await send("HSETNX", key, String(id), text)) === 1) return JSON.parse(text);
      }
    },
    async all() {
      const texts = (await send("HVALS", key)) as string[];
      return texts.map((text) => readKept<PendingCustomer>(key, text)).sort((a, b) => a.id - b.id);
    },
    async done(id) {
      await send("HDEL", key, String(id));
    },
  };
}
