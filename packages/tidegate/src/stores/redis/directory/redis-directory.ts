import { type Clock, checkedClock, systemClock } from "../../../clock.js";
import type { Directory, DirectoryWatcher, ListEntry, ListName } from "../../../directory.js";
import { type Duration, parseDuration } from "../../../duration.js";
import { ConfigError, shown } from "../../../errors.js";
import { rejectUnknownOptions } from "../../../limit.js";
import { connectionTo, type RedisClient } from "../connection.js";
import { malformedLimits } from "./failures.js";
import { layoutOf, type Templates } from "./layout.js";
import { mastersOf } from "./masters.js";
import { listNames } from "./mirror.js";
import { recordsInRedis } from "./records-in-redis.js";
import { scanKeys } from "./scan.js";
import { startWatching, type WatchedRedis, type Watching } from "./watching.js";

export interface RedisDirectoryOptions {
  /** Yours: ioredis 5/6 or node-redis 5/6, single server or cluster. It reads and writes; one more like it is opened to hear of changes. */
  client: RedisClient;
  /** Default `"tg"`, as the store's. */
  prefix?: string;
  /** Where records live, if not at their usual keys. */
  templates?: Templates;
  /** How often to look for changes where Redis can not push them. Default `"15s"`. */
  pollEvery?: Duration;
  /** For tests. Default the system's. */
  clock?: Clock;
}

export interface RedisDirectory extends Directory {
  /** Resolves when a watcher has first been told all there is. */
  readonly ready: Promise<void>;
  /** How changes are learnt now: `"tracking"` within 1 s, `"polling"` within 30 s. */
  readonly mode: "tracking" | "polling";
  /** Stops listening. Your client stays open. */
  close(): void;
}

/** Lists, tiers and overrides in Redis 6.2 or Valkey 7.2 and later, changed by anyone at any time. */
export function redisDirectory(options: RedisDirectoryOptions): RedisDirectory {
  const redis = openRedis(options);
  const { records } = redis;
  const watchers = new Set<DirectoryWatcher>();
  const everyone = tellingAll(watchers);
  let watching: Watching | undefined;
  let tellReady: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    tellReady = resolve;
  });

  function close(): void {
    watchers.clear();
    watching?.stop();
    watching = undefined;
  }

  return {
    ready,
    close,
    get mode() {
      return watching?.mode ?? "tracking";
    },
    entries: (list) => allEntries(redis, list, watching?.mirror.known(list)?.keys()),
    async put(list, entry) {
      await records.putEntry(list, entry);
      watching?.mirror.wrote(list, entry.address, entry);
    },
    async remove(list, address) {
      const wasThere = await records.removeEntry(list, address);
      watching?.mirror.wrote(list, address, undefined);
      return wasThere;
    },
    async customer(id) {
      const { record, malformed } = await records.customer(id);
      if (malformed.length > 0) everyone.failed(malformedLimits(id, malformed));
      return record;
    },
    async putCustomer(id, record) {
      await records.putCustomer(id, record);
      everyone.customerChanged(id);
    },
    watch(watcher) {
      watchers.add(watcher);
      watching ??= startWatching(redis, everyone, tellReady);
      for (const list of listNames) {
        const known = watching.mirror.known(list);
        if (known) watcher.reset(list, [...known.values()]);
      }
      return () => {
        if (watchers.delete(watcher) && watchers.size === 0) close();
      };
    },
  };
}

function openRedis(options: RedisDirectoryOptions): WatchedRedis {
  rejectUnknownOptions(options, ["client", "prefix", "templates", "pollEvery", "clock"], "redisDirectory");
  const { client, prefix = "tg", templates = {}, pollEvery = "15s", clock = systemClock } = options;
  rejectUnknownOptions(templates, ["safelist", "blocklist", "tier", "limits"], "redisDirectory.templates");
  if (typeof prefix !== "string" || !/^[\x21-\x7a\x7c\x7e]{1,64}$/.test(prefix)) {
    throw new ConfigError(
      "TG_PREFIX",
      "redisDirectory.prefix",
      `${shown(prefix)} can not be a prefix.`,
      "Use 1 to 64 printable characters without spaces and braces.",
    );
  }
  const connection = connectionTo(client);
  const layout = layoutOf(prefix, templates);
  const masters = mastersOf(client);
  return {
    connection,
    layout,
    masters,
    records: recordsInRedis(
      connection,
      layout,
      checkedClock(clock, "redisDirectory.clock"),
      masters.readsReplicas,
    ),
    pollEveryMs: parseDuration(pollEvery, "redisDirectory.pollEvery"),
  };
}

/** Those the index names and those known by watching. While nobody watches, some may be named by neither: then all keys are searched. */
async function allEntries(
  redis: WatchedRedis,
  list: ListName,
  known: Iterable<string> | undefined,
): Promise<ListEntry[]> {
  const { records, masters, layout } = redis;
  const addresses = new Set(await records.indexed(list));
  for (const address of known ?? []) addresses.add(address);
  if (known === undefined) {
    await scanKeys(masters, layout.entryPattern, (keys) => {
      for (const key of keys) {
        const name = layout.named(key);
        if (name && "list" in name && name.list === list) addresses.add(name.address);
      }
    });
  }
  const entries = await records.entries(list, [...addresses]);
  return entries.filter((entry) => entry !== undefined);
}

/** One watcher's mistake is told to itself, and harms nobody else. */
function tellingAll(watchers: ReadonlySet<DirectoryWatcher>): DirectoryWatcher {
  const tell = (act: (watcher: DirectoryWatcher) => void) => {
    for (const watcher of watchers) {
      try {
        act(watcher);
      } catch (error) {
        watcher.failed(error);
      }
    }
  };
  return {
    reset: (list, entries) => tell((watcher) => watcher.reset(list, entries)),
    listed: (list, entry) => tell((watcher) => watcher.listed(list, entry)),
    unlisted: (list, address) => tell((watcher) => watcher.unlisted(list, address)),
    customerChanged: (id) => tell((watcher) => watcher.customerChanged(id)),
    failed: (error) => {
      for (const watcher of watchers) watcher.failed(error);
    },
  };
}
