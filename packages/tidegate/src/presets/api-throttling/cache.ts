import type { Clock } from "../../clock.js";
import { ConfigError, shown } from "../../errors.js";
import { memoryStore } from "../../index.js";
import type { Store } from "../../store.js";
import { type MemcachedClient, memcachedStore } from "../../stores/memcached/index.js";
import type { RedisClient } from "../../stores/redis/connection.js";
import { hourKeyStore } from "./hour-key-store.js";
import { installedRedisClient } from "./installed-redis-client.js";

/**
 * `"redis"` at 127.0.0.1:6379, `"memcache"` at 127.0.0.1:11211, `"hash"` in this process; or a client of Redis
 * (ioredis, node-redis) or memcached (`memcachedClient`), or any Tidegate store.
 */
export type Cache = "redis" | "memcache" | "hash" | RedisClient | MemcachedClient | Store;

export interface OpenCache {
  readonly store: Store;
  /** Closes what was opened here; what was handed in is left open. */
  close(): void;
}

export function openCache(cache: Cache, clock: Clock): OpenCache {
  if (cache === "redis") {
    const { client, close } = installedRedisClient({ host: "127.0.0.1", port: 6379 });
    return { store: hourKeyStore(client, clock), close };
  }
  if (cache === "memcache") {
    const store = memcachedStore({ servers: ["127.0.0.1:11211"] });
    return { store, close: () => void store.close?.() };
  }
  if (cache === "hash") return { store: memoryStore({ clock }), close: leaveOpen };
  return { store: storeOn(cache, clock), close: leaveOpen };
}

function storeOn(cache: unknown, clock: Clock): Store {
  const able = (Object(cache) === cache ? cache : {}) as Record<string, unknown>;
  const can = (verb: string) => typeof able[verb] === "function";
  if (can("decide")) return cache as Store;
  if (can("callBuffer") || can("withTypeMapping")) return hourKeyStore(able, clock);
  if (can("get") && can("put") && can("delete")) return memcachedStore({ client: cache as MemcachedClient });
  throw new ConfigError(
    "TG_CACHE",
    "apiThrottling.cache",
    `${shown(cache)} is no cache that can count without losing hits.`,
    'Use "redis", "memcache" or "hash", a client of ioredis or node-redis, memcachedClient({ servers }), or a Tidegate store.',
  );
}

function leaveOpen(): void {}
