import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { createClient as createClient5 } from "redis-client5";
import { createLimiter, type Limiter, type LimiterOptions } from "tidegate";
import { type RedisStoreOptions, redisStore } from "tidegate/redis";
import { afterEach } from "vitest";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Stops it when the test is over. */
export async function own<S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  cleanups.push(() => server.stop());
  return server;
}

/** A client that comes back quickly; nothing of it outlives the test. */
export function ioredis(port: number, options: { password?: string; keyPrefix?: string } = {}): Redis {
  return kept(new Redis(port, { retryStrategy: () => 20, ...options }));
}

function ioredis5(port: number): Redis5 {
  return kept(new Redis5(port, { retryStrategy: () => 20 }));
}

function kept<C extends { on(event: "error", listener: () => void): unknown; disconnect(): void }>(
  client: C,
): C {
  client.on("error", () => {});
  cleanups.push(() => client.disconnect());
  return client;
}

/** Connects as soon as there is something to connect to. */
export function nodeRedis(port: number): ReturnType<typeof createClient> {
  return connecting(
    createClient({ socket: { port, reconnectStrategy: 20 } }) as ReturnType<typeof createClient>,
  );
}

function nodeRedis5(port: number): ReturnType<typeof createClient5> {
  return connecting(
    createClient5({ socket: { port, reconnectStrategy: 20 } }) as ReturnType<typeof createClient5>,
  );
}

function connecting<
  C extends { on(event: "error", l: () => void): unknown; connect(): Promise<unknown>; destroy(): void },
>(client: C): C {
  client.on("error", () => {});
  client.connect().catch(() => {});
  cleanups.push(() => client.destroy());
  return client;
}

/** Every client Tidegate takes. */
export const clients: Record<string, (port: number) => object> = {
  "ioredis 6": ioredis,
  "ioredis 5": ioredis5,
  "node-redis 6": nodeRedis,
  "node-redis 5": nodeRedis5,
};

export const uniquePrefix = (): string => `t:${crypto.randomUUID()}`;

const plenty = { name: "r", limit: "100000 per 400d" } as const;

export function limiterOn(
  client: object,
  options: Partial<LimiterOptions> & { prefix?: string; onWarning?: (message: string) => void } = {},
): Limiter {
  const { prefix = uniquePrefix(), onWarning, ...rest } = options;
  const store = redisStore({ client, prefix, ...(onWarning && { onWarning }) } as RedisStoreOptions);
  return createLimiter({ ...plenty, store, ...rest } as LimiterOptions);
}

/** What stands in Redis, seen by a client of its own. */
export async function countedIn(port: number, prefix: string, key = "k"): Promise<number> {
  const verdict = await limiterOn(ioredis(port), { prefix, deadlineMs: 10_000 }).peek(key);
  if (verdict.source !== "store") throw new Error("Redis could not be asked");
  return verdict.limit - verdict.remaining;
}

/** Asks again until it holds. */
export async function until(what: string, holds: () => Promise<boolean>, withinMs = 15_000): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${withinMs} ms for ${what}`);
    await sleep(10);
  }
}

/** Consumes until the store is the one that answers, and has counted one call. */
export async function untilStoreAnswers(limiter: Limiter, key = "k"): Promise<void> {
  await until("the store to answer", async () => (await limiter.consume(key)).source === "store");
}

/** Whether the answer was there without waiting for a timer or a socket. */
export async function isImmediate(answer: Promise<unknown>): Promise<boolean> {
  const isSettled = await Promise.race([
    answer.then(() => true),
    new Promise((resolve) => setImmediate(resolve)),
  ]);
  return isSettled === true;
}
