import type { Clock } from "../../../clock.js";
import type { CustomerRecord, ListEntry, ListName } from "../../../directory.js";
import type { Connection } from "../connection.js";
import type { Layout } from "./layout.js";
import { type CustomerRead, customerOf, entryOf, entryText } from "./records.js";
import { fieldsOf, isReplyError, textOf, textsOf } from "./replies.js";
import { within } from "./timing.js";

/** Lists and customers, read and written on the user's own connection. */
export interface RecordsInRedis {
  /** For each address its entry, or nothing where there is none. */
  entries(list: ListName, addresses: readonly string[]): Promise<(ListEntry | undefined)[]>;
  putEntry(list: ListName, entry: ListEntry): Promise<void>;
  removeEntry(list: ListName, address: string): Promise<boolean>;
  /** The addresses the list's index names; some may be gone, and some not be named. */
  indexed(list: ListName): Promise<string[]>;
  addToIndex(list: ListName, addresses: readonly string[]): Promise<void>;
  dropFromIndex(list: ListName, addresses: readonly string[]): Promise<void>;
  customer(id: string): Promise<CustomerRead>;
  putCustomer(id: string, record: CustomerRecord): Promise<void>;
}

const answerWithinMs = 5000;
/** Entries asked for in one breath. */
const portion = 512;

/** What each key holds and how long it lives, or nothing where there is no string. Asking key by key takes several times as long. */
const readEntries = `local found = {}
for i, key in ipairs(KEYS) do
  local text = redis.pcall("GET", key)
  found[i] = type(text) == "string" and { text, redis.call("PTTL", key) } or {}
end
return found`;

/** Replaces a hash as one act: nobody sees the customer without limits in between. */
const replaceHash = `redis.call("DEL", KEYS[1])
for i = 1, #ARGV, 2 do redis.call("HSET", KEYS[1], ARGV[i], ARGV[i + 1]) end`;

/** What a key holds, by a command that reads it, and how long it lives. */
const readKey = `local found = redis.pcall(ARGV[1], KEYS[1])
if type(found) == "table" and found.err then return found end
return { found, redis.call("PTTL", KEYS[1]) }`;

/** Any command, sent to a master: that is where scripts run. */
const onMaster = "return redis.pcall(ARGV[1], KEYS[1], unpack(ARGV, 2))";

export function recordsInRedis(
  connection: Connection,
  layout: Layout,
  clock: Clock,
  readsReplicas: boolean,
): RecordsInRedis {
  function run(script: string, keys: readonly string[], ...args: string[]): Promise<unknown> {
    const words = ["EVAL", script, String(keys.length), ...keys, ...args];
    return within(answerWithinMs, connection.command(words, keys[0]));
  }

  function send(command: string, key: string, ...args: string[]): Promise<unknown> {
    if (readsReplicas) return run(onMaster, [key], command, ...args);
    return within(answerWithinMs, connection.command([command, key, ...args], key));
  }

  async function read(list: ListName, addresses: readonly string[]): Promise<(ListEntry | undefined)[]> {
    const keys = addresses.map((address) => layout.entryKey(list, address));
    const found = (await run(readEntries, keys)) as [text?: unknown, leftMs?: unknown][];
    const now = clock();
    return addresses.map((address, i) => {
      const [text, leftMs] = found[i] ?? [];
      if (text === undefined) return undefined;
      return entryOf(address, String(text), Number(leftMs) < 0 ? undefined : now + Number(leftMs));
    });
  }

  /** Redis reports late or never that a key expired, so its end is read with it. */
  async function readWithEnd(command: string, key: string): Promise<{ held: unknown; until: number }> {
    const [held, leftMs = -1] = ((await orNothing(run(readKey, [key], command))) ?? []) as unknown[];
    return { held, until: Number(leftMs) < 0 ? Number.POSITIVE_INFINITY : clock() + Number(leftMs) };
  }

  async function changeIndex(verb: string, list: ListName, addresses: readonly string[]): Promise<void> {
    for (let at = 0; at < addresses.length; at += portion) {
      await orNothing(send(verb, layout.indexKey(list), ...addresses.slice(at, at + portion)));
    }
  }

  async function removeEntry(list: ListName, address: string): Promise<boolean> {
    const [removed] = await Promise.all([
      send("DEL", layout.entryKey(list, address)),
      changeIndex("SREM", list, [address]),
    ]);
    return Number(removed) > 0;
  }

  return {
    removeEntry,
    async entries(list, addresses) {
      const entries: (ListEntry | undefined)[] = [];
      for (let at = 0; at < addresses.length; at += portion) {
        const some = addresses.slice(at, at + portion);
        // A cluster's keys are strewn over its masters.
        const reads = connection.isCluster ? some.map((each) => read(list, [each])) : [read(list, some)];
        for (const each of await Promise.all(reads)) entries.push(...each);
      }
      return entries;
    },
    async putEntry(list, entry) {
      const { address, until } = entry;
      const leftMs = until === undefined ? undefined : Math.ceil(until - clock());
      if (leftMs !== undefined && leftMs <= 0) return void (await removeEntry(list, address));
      const expiry = leftMs === undefined ? [] : ["PX", String(leftMs)];
      // The index first: one that names too much is put right by the next reader, one that names too little only by a search.
      await Promise.all([
        changeIndex("SADD", list, [address]),
        send("SET", layout.entryKey(list, address), entryText(entry), ...expiry),
      ]);
    },
    indexed: async (list) => textsOf(await orNothing(send("SMEMBERS", layout.indexKey(list)))),
    addToIndex: (list, addresses) => changeIndex("SADD", list, addresses),
    dropFromIndex: (list, addresses) => changeIndex("SREM", list, addresses),
    async customer(id) {
      const [tier, limits] = await Promise.all([
        readWithEnd("GET", layout.tierKey(id)),
        readWithEnd("HGETALL", layout.limitsKey(id)),
      ]);
      const until = Math.min(tier.until, limits.until);
      return customerOf(textOf(tier.held), fieldsOf(limits.held), Number.isFinite(until) ? until : undefined);
    },
    async putCustomer(id, { tier, limits }) {
      const tierKey = layout.tierKey(id);
      const fields = [...(limits ?? [])].flat().map(String);
      await Promise.all([
        tier ? send("SET", tierKey, tier) : send("DEL", tierKey),
        run(replaceHash, [layout.limitsKey(id)], ...fields),
      ]);
    },
  };
}

/** A key of a foreign type holds no record. */
async function orNothing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (isReplyError(error, "WRONGTYPE")) return undefined;
    throw error;
  }
}
