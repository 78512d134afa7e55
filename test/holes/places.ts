import { Cluster, Redis } from "ioredis";
import {
  concurrency,
  earrrl,
  fixedWindow,
  type Limit,
  memoryStore,
  type Store,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from "tidegate";
import { memcachedClient, memcachedStore } from "tidegate/memcached";
import { redisStore } from "tidegate/redis";
import { type VirtualClock, virtualClock } from "tidegate/testing";
import { inject } from "vitest";

/** Somewhere counts live. Each store opened there shares nothing with any other. */
export interface Place {
  readonly name: string;
  /** Whether it keeps logs. */
  readonly ledgers: boolean;
  /** Without a clock, on the real one. */
  open(clock?: VirtualClock): Store;
  close(): unknown;
}

export function everyPlace(): Place[] {
  const single = new Redis(inject("redisPort"));
  const cluster = new Cluster(inject("redisClusterPorts").map((port) => ({ host: "127.0.0.1", port })));
  const memcached = memcachedClient({ servers: [`127.0.0.1:${inject("memcachedPort")}`] });
  const own = (clock?: VirtualClock) => ({ prefix: `t:${crypto.randomUUID()}`, ...(clock && { clock }) });
  return [
    { name: "memory", ledgers: true, open: (clock) => memoryStore(clock && { clock }), close: () => {} },
    {
      name: "Redis",
      ledgers: true,
      open: (clock) => redisStore({ client: single, ...own(clock) }),
      close: () => single.disconnect(),
    },
    {
      name: "a cluster",
      ledgers: true,
      open: (clock) => redisStore({ client: cluster, ...own(clock) }),
      close: () => cluster.disconnect(),
    },
    {
      name: "memcached",
      ledgers: false,
      open: (clock) => memcachedStore({ client: memcached, ...own(clock) }),
      close: () => memcached.close(),
    },
  ];
}

/** One of each kind with this many per window, but EARRRL, which has no such number. */
export function counting(limit: number, window: number): Limit[] {
  return [
    fixedWindow({ limit, window }),
    fixedWindow({ limit, window, align: "first-hit" }),
    slidingLog({ limit, window }),
    slidingLog({ limit, window, encoding: "list" }),
    slidingCounter({ limit, window }),
    tokenBucket({ rate: limit || 1, per: window, burst: limit }),
  ];
}

/** All of them, and what else there is. */
export function everyLimit(limit: number, window: number): Limit[] {
  return [
    ...counting(limit, window),
    earrrl({ rate: (limit * 1000) / window, halfLife: window }),
    concurrency({ limit, leaseFor: window }),
  ];
}

export function keptBy(place: Place, limits: readonly Limit[]): Limit[] {
  return limits.filter(({ ledger }) => place.ledgers || ledger === undefined);
}

/** A round instant, so that epoch-aligned windows begin with it. */
const start = 1_700_006_400_000;
export const clockAtStart = (): VirtualClock => virtualClock(start);
