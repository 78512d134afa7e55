import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { createClient as createClient5 } from "redis-client5";
import {
  type Check,
  createLimiter,
  earrrl,
  fixedWindow,
  type Limit,
  memoryStore,
  type Store,
  slidingLog,
  type Verdict,
} from "tidegate";
import { redisStore } from "tidegate/redis";
import { afterAll, describe, expect, inject, it } from "vitest";
import { faultProxy } from "../servers/index.js";
import { clockAtStart, counting, everyLimit, everyPlace, keptBy } from "./places.js";

// Each of these went wrong in a rate limiter people use; who is named in brackets.

const places = everyPlace();
const redis = new Redis(inject("redisPort"));
afterAll(async () => {
  redis.disconnect();
  for (const place of places) await place.close();
});

const uniquePrefix = () => `t:${crypto.randomUUID()}`;
const perHour = (limit: number) => fixedWindow({ limit, window: "1h" });
const check = (limit: Limit, key = "k", rule = limit.id): Check => ({ rule, key, limit });

async function ask(store: Store, one: Check): Promise<Verdict> {
  const [verdict] = await store.decide([one]);
  return verdict as Verdict;
}

async function allowedOf(store: Store, one: Check, calls: number): Promise<number> {
  let allowed = 0;
  for (let i = 0; i < calls; i++) if ((await ask(store, one)).allowed) allowed++;
  return allowed;
}

describe.each(places)("on $name", (place) => {
  it("sub-second windows are not rounded to 0 and do expire (rate-limiter-flexible)", async () => {
    for (const limit of keptBy(place, counting(3, 250))) {
      const clock = clockAtStart();
      const store = place.open(clock);
      expect(await allowedOf(store, check(limit), 5), limit.id).toBe(3);
      clock.advance(500);
      expect(await allowedOf(store, check(limit), 5), limit.id).toBe(3);
    }
  });

  it("windows over 24.8 days limit, overflow nothing, and end (rate-limiter-flexible)", async () => {
    const window = 400 * 86_400_000;
    for (const limit of keptBy(place, counting(3, window))) {
      const clock = clockAtStart();
      const store = place.open(clock);
      expect(await allowedOf(store, check(limit), 5), limit.id).toBe(3);
      clock.advance(86_400_000);
      expect(await allowedOf(store, check(limit), 5), limit.id).toBe(0);
      clock.advance(2 * window);
      expect(await allowedOf(store, check(limit), 5), limit.id).toBe(3);
    }
  });

  it("a refund on an absent key lets nobody exceed the limit (rate-limiter-flexible)", async () => {
    for (const limit of keptBy(place, counting(3, 3_600_000))) {
      const clock = clockAtStart();
      const store = place.open(clock);
      await store.refund([{ ...check(limit), cost: 100 }]);
      await store.refund([check(limit)]);
      expect(await allowedOf(store, check(limit), 10), limit.id).toBe(3);
    }
  });

  it("a refund on an expired key credits nothing (rate-limit-redis)", async () => {
    for (const limit of keptBy(place, counting(3, 60_000))) {
      const clock = clockAtStart();
      const store = place.open(clock);
      const { at, resetAfterMs } = await ask(store, check(limit));
      clock.advance("10m");
      await store.refund([{ ...check(limit), at, resetAfterMs }]);
      await store.refund([{ ...check(limit), cost: 100, at, resetAfterMs }]);
      expect(await allowedOf(store, check(limit), 10), limit.id).toBe(3);
    }
  });

  it("a denial is not remembered without its cost: smaller calls pass (@upstash/ratelimit)", async () => {
    const limits = keptBy(place, counting(5, 3_600_000)).filter(({ id }) => !id.startsWith("ll:"));
    for (const limit of limits) {
      const store = place.open(clockAtStart());
      const cost = async (amount: number) => (await ask(store, { ...check(limit), cost: amount })).allowed;
      expect([await cost(3), await cost(4), await cost(2), await cost(1)], limit.id).toEqual([
        true,
        false,
        true,
        false,
      ]);
    }
  });

  it("a glob as id wipes nobody but itself (@upstash/ratelimit)", async () => {
    const store = place.open();
    const innocent = ["alice", "bob", "*a", "a*"];
    for (const key of innocent) await ask(store, check(perHour(5), key));
    for (const glob of ["*", "a?ice", "[a-z]*", "**", "?", "alic*", "\\*"])
      await store.forget([check(perHour(5), glob)]);
    for (const key of innocent) {
      const [verdict] = await store.peek([check(perHour(5), key)]);
      expect(verdict?.remaining, key).toBe(4);
    }
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])(
    "a key, rule or id named %s neither bypasses the limit nor throws (plain-object maps)",
    async (name) => {
      const store = place.open(clockAtStart());
      expect(await allowedOf(store, { rule: name, key: name, limit: perHour(2) }, 4)).toBe(2);
      if (!place.ledgers) return;
      const log = { ...check(slidingLog({ limit: 2, window: "1h" }), name), id: name };
      expect(await allowedOf(store, log, 3)).toBe(3);
      expect(await allowedOf(store, { ...log, id: "another" }, 1)).toBe(1);
      expect(await allowedOf(store, { ...log, id: "a third" }, 1)).toBe(0);
    },
  );

  it("agrees with memory call for call: 18 let through here and 6 there is a defect (@nestjs/throttler)", async () => {
    for (const limit of keptBy(place, everyLimit(6, 60_000))) {
      const clock = clockAtStart();
      const [here, there] = [place.open(clock), memoryStore({ clock })];
      for (let i = 0; i < 40; i++) {
        const one = limit.id === "co" ? { ...check(limit), id: `lease ${i}` } : check(limit);
        const [mine, reference] = [await ask(here, one), await ask(there, one)];
        expect(mine.allowed, `${limit.id}, call ${i}`).toBe(reference.allowed);
        expect(mine.remaining, `${limit.id}, call ${i}`).toBe(reference.remaining);
        expect(Math.abs(mine.retryAfterMs - reference.retryAfterMs)).toBeLessThanOrEqual(1);
        clock.advance(7_000);
      }
    }
  });

  it("several rules and keys in one decision never meet CROSSSLOT (@upstash/ratelimit, bottleneck, Effect)", async () => {
    const store = place.open(clockAtStart());
    const limits = keptBy(place, everyLimit(5, 60_000)).filter(({ id }) => !id.startsWith("ll:"));
    const checks = ["one", "two", "three"].flatMap((key) =>
      limits.map((limit) => ({ ...check(limit, key, "r"), id: "x" })),
    );
    const verdicts = await store.decide(checks);
    expect(verdicts).toHaveLength(checks.length);
    expect(verdicts.every(({ allowed }) => allowed)).toBe(true);
    await store.refund(checks);
    await store.forget(checks);
  });

  it("parallel calls on one key pass no more than the limit (judge first, charge later)", async () => {
    const store = place.open();
    const verdicts = await Promise.all(Array.from({ length: 200 }, () => store.decide([check(perHour(5))])));
    expect(verdicts.filter(([verdict]) => verdict?.allowed)).toHaveLength(5);
  });
});

describe("in memory", () => {
  it("5,000 filler keys do not evict your own record (@fastify/rate-limit)", () => {
    const store = memoryStore({ maxKeys: 5000, clock: clockAtStart() });
    const mine = check(perHour(5), "me", "r");
    let allowed = 0;
    for (let round = 0; round < 10; round++) {
      if (store.decide([mine])[0]?.allowed) allowed++;
      for (let i = 0; i < 5000; i++) store.decide([check(perHour(5), `filler ${round} ${i}`, "r")]);
    }
    expect(allowed).toBe(5);
    expect(store.size).toBeLessThanOrEqual(5000);
  });

  it("an offender is not washed out by a flood of fresh identities, nor is a hold (@fastify/rate-limit)", () => {
    const store = memoryStore({ maxKeys: 1000, clock: clockAtStart() });
    const flood = earrrl({ rate: 1, halfLife: "10m" });
    const offender = check(flood, "offender", "r");
    while (store.decide([offender])[0]?.allowed);
    store.hold("r", "held", 3_600_000);
    for (let i = 0; i < 50_000; i++) store.decide([check(flood, `fresh ${i}`, "r")]);
    expect(store.peek([offender])[0]?.allowed).toBe(false);
    expect(store.peek([check(flood, "held", "r")])[0]?.allowed).toBe(false);
  });

  it("denials take no room: neither a cache of them nor a record (@upstash/ratelimit, arcjet)", () => {
    const store = memoryStore();
    for (const limit of counting(0, 60_000)) {
      for (let i = 0; i < 1000; i++) expect(store.decide([check(limit, `k${i}`)])[0]?.allowed).toBe(false);
    }
    expect(store.size).toBe(0);
  });

  it("holding the hundred-thousandth client takes no longer than holding the first (rate-limiter-flexible)", () => {
    const store = memoryStore();
    let next = 0;
    const hold = (count: number) => {
      const began = performance.now();
      for (let i = 0; i < count; i++) store.hold("r", `k${next++}`, 3_600_000);
      return performance.now() - began;
    };
    hold(5_000);
    const early = hold(5_000);
    hold(90_000);
    const late = Math.min(hold(5_000), hold(5_000), hold(5_000));
    expect(late).toBeLessThan(10 * early + 20);
  });

  it("a log of 130,000 entries neither throws nor slows each call down (@nestjs/throttler)", () => {
    const clock = clockAtStart();
    const store = memoryStore({ clock });
    const log = check(slidingLog({ limit: 200_000, window: "1h", onWarning: () => {} }));
    const timed = (count: number) => {
      const began = performance.now();
      for (let i = 0; i < count; i++) {
        clock.advance(1);
        store.decide([log]);
      }
      return performance.now() - began;
    };
    timed(2_000);
    const early = timed(2_000);
    timed(124_000);
    const late = Math.min(timed(2_000), timed(2_000));
    expect(store.peek([log])[0]?.remaining).toBe(200_000 - 132_000);
    expect(late).toBeLessThan(20 * early + 20);
  });

  it("no timer per key, and no request's AsyncLocalStorage is kept (rate-limiter-flexible, @nestjs/throttler)", async () => {
    const library = JSON.stringify(
      fileURLToPath(new URL("../../packages/tidegate/src/index.ts", import.meta.url)),
    );
    const script = `
      import { AsyncLocalStorage } from "node:async_hooks";
      import { createLimiter, slidingLog } from ${library};
      const limiters = [
        createLimiter({ name: "a", limit: "5 per hour" }),
        createLimiter({ name: "b", limit: slidingLog({ limit: 5, window: "1h" }) }),
      ];
      const requests = new AsyncLocalStorage();
      let collected = 0;
      const registry = new FinalizationRegistry(() => collected++);
      async function serve(i) {
        const body = { bytes: new Uint8Array(1024 * 1024) };
        registry.register(body, i);
        await requests.run(body, async () => {
          for (const limiter of limiters) {
            const verdict = await limiter.consume("k" + i);
            await limiter.hold("h" + i, "1h");
            await limiter.refund(verdict);
          }
        });
      }
      for (let i = 0; i < 200; i++) await serve(i);
      for (let i = 0; i < 20 && collected < 200; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      console.log(JSON.stringify({ collected, timers: process.getActiveResourcesInfo().filter((each) => each === "Timeout").length }));`;
    const child = spawn(
      process.execPath,
      ["--expose-gc", "--import", "tsx", "--input-type=module", "--eval", script],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    await once(child, "exit");
    const { collected, timers } = JSON.parse(output);
    expect(collected).toBeGreaterThanOrEqual(199);
    expect(timers).toBe(0);
  });
});

describe("in Redis", () => {
  it("every algorithm sets an expiry that fits its window (@upstash/ratelimit and earrrl-ruby compared a text with a number)", async () => {
    const window = 600_000;
    for (const limit of everyLimit(5, window)) {
      const prefix = uniquePrefix();
      const store = redisStore({ client: redis, prefix });
      await store.decide([{ ...check(limit), ...(limit.id === "co" && { id: "lease" }) }]);
      const keys = await redis.keys(`${prefix}:*`);
      expect(keys.length, limit.id).toBeGreaterThan(0);
      for (const key of keys) {
        const ttl = await redis.pttl(key);
        expect(ttl, limit.id).toBeGreaterThan(0);
        expect(ttl, limit.id).toBeLessThan(window * 40);
      }
    }
  });

  it("a refund leaves neither a negative count nor a key without expiry (rate-limit-redis)", async () => {
    for (const limit of counting(3, 150)) {
      const prefix = uniquePrefix();
      const store = redisStore({ client: redis, prefix });
      const { at, resetAfterMs } = await ask(store, check(limit));
      await store.refund([{ ...check(limit), cost: 5, at, resetAfterMs }]);
      // -1 is a key without expiry, -2 one that has just expired.
      for (const key of await redis.keys(`${prefix}:*`)) expect(await redis.pttl(key), key).not.toBe(-1);
      await store.refund([{ ...check(limit, "absent"), cost: 5 }]);
      expect(await redis.keys(`${prefix}:*absent*`), limit.id).toEqual([]);
    }
  });

  it("refusals leave nothing behind: a log does not grow under attack (redis-based sliding logs)", async () => {
    for (const encoding of ["sorted-set", "list"] as const) {
      const prefix = uniquePrefix();
      const store = redisStore({ client: redis, prefix });
      const log = check(slidingLog({ limit: 5, window: "1h", encoding }));
      await Promise.all(Array.from({ length: 5 }, () => ask(store, log)));
      const sizes = async () =>
        Promise.all((await redis.keys(`${prefix}:*`)).sort().map((key) => redis.memory("USAGE", key)));
      const before = await sizes();
      const verdicts = await Promise.all(Array.from({ length: 2000 }, () => ask(store, log)));
      expect(verdicts.some(({ allowed }) => allowed)).toBe(false);
      expect(await sizes()).toEqual(before);
    }
    const prefix = uniquePrefix();
    const store = redisStore({ client: redis, prefix });
    await Promise.all(Array.from({ length: 100 }, (_, i) => ask(store, check(perHour(0), `k${i}`))));
    expect(await redis.keys(`${prefix}:*`)).toEqual([]);
  });

  it("a rejected script load is not cached (rate-limit-redis)", async () => {
    let failing = true;
    const flaky = {
      on: () => {},
      callBuffer: (...args: [string, ...string[]]) =>
        failing ? Promise.reject(new Error("ECONNREFUSED")) : redis.callBuffer(...args),
    };
    const limiter = createLimiter({
      name: "r",
      limit: "5 per hour",
      store: redisStore({ client: flaky, prefix: uniquePrefix() }),
      breaker: { failures: 100 },
      deadlineMs: 20_000,
    });
    for (let i = 0; i < 3; i++) expect((await limiter.consume("k")).source).toBe("local");
    failing = false;
    expect(await limiter.consume("k")).toMatchObject({ source: "store", remaining: 4 });
  });

  it("an error is not answered by trying again: what ran counts once (hono-rate-limiter)", async () => {
    const lossy = {
      on: () => {},
      async callBuffer(...args: [string, ...string[]]) {
        const reply = await redis.callBuffer(...args);
        if (args[0].startsWith("EVAL") && isLossy) throw new Error("socket hang up");
        return reply;
      },
    };
    let isLossy = false;
    const prefix = uniquePrefix();
    const limiter = createLimiter({
      name: "r",
      limit: "50 per hour",
      store: redisStore({ client: lossy, prefix }),
      deadlineMs: 20_000,
    });
    await limiter.consume("k");
    isLossy = true;
    for (let i = 0; i < 3; i++) expect((await limiter.consume("k")).source).toBe("local");
    isLossy = false;
    expect((await limiter.peek("k")).remaining).toBe(50 - 4);
  });

  it("commands the client sends again after a reconnect count once (ioredis under any limiter)", async () => {
    const proxy = await faultProxy(inject("redisPort"));
    const client = new Redis({ port: proxy.port, retryStrategy: () => 20 });
    client.on("error", () => {});
    try {
      const prefix = uniquePrefix();
      const store = redisStore({ client, prefix });
      const other = redisStore({ client: redis, prefix });
      const used = async () => 5 - ((await other.peek([check(perHour(5))]))[0]?.remaining ?? Number.NaN);
      await ask(store, check(perHour(5)));
      proxy.swallowReplies(true);
      const lost = ask(store, check(perHour(5)));
      while ((await used()) < 2);
      proxy.swallowReplies(false);
      proxy.cut();
      await expect(lost).rejects.toMatchObject({ code: "TG_STORE_LATE" });
      expect(await used()).toBe(2);
    } finally {
      client.disconnect();
      await proxy.stop();
    }
  });

  it.each([
    ["node-redis 6", () => createClient({ socket: { port: inject("redisPort") } })],
    ["node-redis 5", () => createClient5({ socket: { port: inject("redisPort") } })],
  ])(
    "%s is told by what it can do, whatever its class is called (rate-limiter-flexible)",
    async (_, create) => {
      const client = create();
      await client.connect();
      try {
        expect(client.constructor.name).not.toBe("RedisClient");
        const minified = new Proxy(client, {
          get: (target, name) => {
            if (name === "constructor") return class a {};
            const value = Reflect.get(target, name, target);
            return typeof value === "function" ? value.bind(target) : value;
          },
        });
        for (const each of [client, minified]) {
          const store = redisStore({ client: each, prefix: uniquePrefix() });
          expect(await allowedOf(store, check(perHour(3)), 5)).toBe(3);
        }
      } finally {
        client.destroy();
      }
    },
  );
});
