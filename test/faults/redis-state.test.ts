import fc from "fast-check";
import { Cluster, Redis } from "ioredis";
import {
  type Check,
  ConfigError,
  concurrency,
  createLimiter,
  earrrl,
  fixedWindow,
  type Limit,
  memoryStore,
  slidingCounter,
  slidingLog,
  tokenBucket,
  type Verdict,
} from "tidegate";
import { redisStore } from "tidegate/redis";
import { virtualClock } from "tidegate/testing";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { faultProxy, startRedis } from "../servers/index.js";
import { ioredis, own, uniquePrefix, until } from "./support.js";

let redis: Redis;
beforeAll(() => {
  redis = new Redis(inject("redisPort"));
});
afterAll(() => redis.disconnect());

const limit = fixedWindow({ limit: 5, window: "1h" });
const check = (key = "k", of: Limit = limit): Check => ({ rule: "r", key, limit: of });

/** One of each kind, all of them small. */
const everyLimit: readonly Limit[] = [
  fixedWindow({ limit: 5, window: "1h" }),
  fixedWindow({ limit: 5, window: "1m", align: "first-hit" }),
  fixedWindow({ limit: 5, window: "1d", countRefused: true }),
  slidingLog({ limit: 5, window: "1h" }),
  slidingLog({ limit: 5, window: "1h", encoding: "list" }),
  slidingCounter({ limit: 5, window: "1h" }),
  tokenBucket({ rate: "5 per hour", burst: 5 }),
  earrrl({ rate: "5 per hour", halfLife: "10m" }),
];

describe("state that is not ours", () => {
  async function setUp() {
    const prefix = uniquePrefix();
    const onWarning = vi.fn();
    const store = redisStore({ client: redis, prefix, onWarning });
    await store.decide([check()]);
    const [key] = await redis.keys(`${prefix}:*`);
    return { store, onWarning, key: key as string, state: (await redis.getBuffer(key as string)) as Buffer };
  }

  async function expectReset({ store, onWarning, key }: Awaited<ReturnType<typeof setUp>>): Promise<void> {
    expect(await store.decide([check()])).toMatchObject([{ allowed: true, remaining: 4 }]);
    expect(store.resets).toBe(1);
    expect(onWarning).toHaveBeenCalledTimes(1);
    expect(onWarning.mock.lastCall?.[0]).toContain("TG_STATE_CORRUPT");
    expect(await redis.pttl(key)).toBeGreaterThan(0);
    expect(await store.decide([check()])).toMatchObject([{ remaining: 3 }]);
    expect(store.resets).toBe(1);
  }

  it.each<[string, (key: string) => Promise<unknown>]>([
    ["a list", (key) => redis.rpush(key, "a")],
    ["a hash", (key) => redis.hset(key, "a", "b")],
    ["a set", (key) => redis.sadd(key, "a")],
    ["a sorted set", (key) => redis.zadd(key, 1, "a")],
    ["a stream", (key) => redis.xadd(key, "*", "a", "b")],
  ])("%s under our key is begun afresh, counted and told of", async (_, put) => {
    const found = await setUp();
    await redis.del(found.key);
    await put(found.key);
    await expectReset(found);
  });

  it.each<[string, (state: Buffer) => Buffer | string]>([
    ["an empty text", () => ""],
    ["a number", () => "1"],
    ["JSON", () => '{"hits":3,"reset":1700000000}'],
    ["a state cut short by a byte", (state) => state.subarray(0, -1)],
    ["a state cut to its head and a half", (state) => state.subarray(0, 18)],
    ["a state cut within the head", (state) => state.subarray(0, 7)],
    ["a state with a byte too many", (state) => Buffer.concat([state, Buffer.from([0])])],
    ["a state of a limit without cells", (state) => withTag(state, 0x0000_0001)],
    ["a state of a limit with seven cells", (state) => withTag(state, 0x7000_0001)],
    ["noise of the right length", (state) => Buffer.alloc(state.length, 0xff)],
    ["zeros of the right length", (state) => Buffer.alloc(state.length)],
  ])("%s is begun afresh, counted and told of", async (_, spoil) => {
    const found = await setUp();
    await redis.set(found.key, spoil(found.state) as Buffer);
    await expectReset(found);
  });

  it.each<[string, number, number]>([
    ["a hold until NaN", 0, Number.NaN],
    ["a hold for ever", 0, Number.POSITIVE_INFINITY],
    ["an end that is NaN", 8, Number.NaN],
    ["an endless end", 8, Number.POSITIVE_INFINITY],
    ["a window until NaN", 20, Number.NaN],
    ["a count of NaN", 28, Number.NaN],
  ])("a state with %s neither locks a client out for ever nor lets it in for ever", async (_, at, value) => {
    const found = await setUp();
    const state = Buffer.from(found.state);
    state.writeDoubleLE(value, at);
    await redis.set(found.key, state);
    await expectReset(found);
  });

  it("a limit of another version, well formed, is carried along and not counted as corrupt", async () => {
    const { store, key, state } = await setUp();
    await redis.set(key, withTag(state, 0x2bad_cafe & 0x2fff_ffff), "PX", 60_000);
    expect(await store.decide([check()])).toMatchObject([{ allowed: true, remaining: 4 }]);
    expect(store.resets).toBe(0);
    expect(await redis.strlen(key)).toBeGreaterThan(state.length);
  });

  it("a corrupt key in a batch costs the others nothing", async () => {
    const { store, key, onWarning } = await setUp();
    await store.decide([check("neighbour")]);
    await redis.set(key, "spoilt");
    const answers = await Promise.all(
      ["neighbour", "k", "k", "neighbour"].map((name) => store.decide([check(name)])),
    );
    expect(answers.map(([verdict]) => verdict?.remaining)).toEqual([3, 4, 3, 2]);
    expect(store.resets).toBe(1);
    expect(onWarning).toHaveBeenCalledTimes(1);
  });

  it("is told of once, however many there are", async () => {
    const { store, key, onWarning } = await setUp();
    for (let i = 1; i <= 5; i++) {
      await redis.set(key, "spoilt");
      await store.decide([check()]);
      expect(store.resets).toBe(i);
    }
    expect(onWarning).toHaveBeenCalledTimes(1);
  });

  it("peek, refund and hold survive it too", async () => {
    const { store, key } = await setUp();
    for (const put of [() => redis.set(key, "spoilt"), () => redis.lpush(key, "a")]) {
      await redis.del(key);
      await put();
      expect(await store.peek([check()])).toMatchObject([{ allowed: true, remaining: 5 }]);
      await store.refund([check()]);
      await store.hold("r", "k", 60_000);
      expect(await store.decide([check()])).toMatchObject([{ allowed: false }]);
      expect(await redis.pttl(key)).toBeGreaterThan(0);
    }
  });

  it.each(everyLimit.filter(({ ledger }) => ledger !== undefined).map((each) => [each.id, each] as const))(
    "a ledger (%s) of the wrong type or with foreign entries is begun afresh",
    async (_, of) => {
      const prefix = uniquePrefix();
      const onWarning = vi.fn();
      const store = redisStore({ client: redis, prefix, onWarning });
      const put = [
        (key: string) => redis.set(key, "spoilt"),
        (key: string) => redis.hset(key, "a", "b"),
        (key: string) => redis.sadd(key, "a"),
      ];
      for (const spoil of put) {
        await store.decide([check("k", of)]);
        const key = `${prefix}:{k}:r:${of.id}`;
        expect(await redis.del(key)).toBe(1);
        await spoil(key);
        expect(await store.decide([check("k", of)])).toMatchObject([{ allowed: true, remaining: 4 }]);
        expect(await redis.pttl(key)).toBeGreaterThan(0);
      }
      expect(store.resets).toBe(put.length);
      expect(onWarning).toHaveBeenCalledTimes(1);
    },
  );
});

function withTag(state: Buffer, tag: number): Buffer {
  const changed = Buffer.from(state);
  changed.writeUInt32LE(tag, 16);
  return changed;
}

describe("every key has an end", () => {
  async function expectEnds(keys: readonly string[], pttl: (key: string) => Promise<number>): Promise<void> {
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(await pttl(key), key).toBeGreaterThan(0);
  }

  async function mixedRun(store: ReturnType<typeof redisStore>): Promise<void> {
    const leases = concurrency({ limit: 5, leaseFor: "1m" });
    for (const of of [...everyLimit, leases]) {
      const one = check(of.id, of);
      const id = of === leases ? { id: "lease" } : {};
      for (let i = 0; i < 7; i++) await store.decide([{ ...one, ...(of === leases && { id: `lease${i}` }) }]);
      await store.peek([one]);
      await store.refund([{ ...one, ...id }]);
      await store.refund([{ ...one, ...id, key: "never seen" }]);
      await store.hold("r", one.key, 10_000);
      await store.decide([{ ...one, ...id }]);
      await store.hold("only held", one.key, 10_000);
    }
    const together = everyLimit.filter(({ id }) => !id.startsWith("ll:"));
    for (let i = 0; i < 7; i++) {
      await store.decide(together.map((of) => check("together", of)));
      await store.decide([
        ...together.map((of) => check(`apart${i}`, of)),
        check("closed", fixedWindow({ limit: 0, window: "1h" })),
      ]);
    }
    await store.forget([check("together")]);
    await store.decide(together.map((of) => check("together", of)));
  }

  it("after all kinds of limits, refusals, refunds and holds, on a single server", async () => {
    const prefix = uniquePrefix();
    await mixedRun(redisStore({ client: redis, prefix }));
    await expectEnds(await redis.keys(`${prefix}:*`), (key) => redis.pttl(key));
  });

  it("and on a cluster, where every key a script touches must be declared", async () => {
    const prefix = uniquePrefix();
    const cluster = new Cluster(inject("redisClusterPorts").map((port) => ({ host: "127.0.0.1", port })));
    try {
      await mixedRun(redisStore({ client: cluster, prefix }));
      const masters = cluster.nodes("master");
      const keys = await Promise.all(masters.map((master) => master.keys(`${prefix}:*`)));
      expect(keys.filter((some) => some.length > 0).length).toBeGreaterThan(1);
      for (const [i, master] of masters.entries())
        for (const key of keys[i] ?? []) expect(await master.pttl(key), key).toBeGreaterThan(0);
    } finally {
      cluster.disconnect();
    }
  });

  it("a window of 100 ms is over when Redis says so, and its key is gone", async () => {
    const prefix = uniquePrefix();
    const store = redisStore({ client: redis, prefix });
    await store.decide([check("k", fixedWindow({ limit: 1, window: "100ms", align: "first-hit" }))]);
    await until("the key to expire", async () => (await redis.keys(`${prefix}:*`)).length === 0, 5000);
  });

  it("no key is touched outside the prefix", async () => {
    const server = await own(startRedis());
    const client = ioredis(server.port);
    await mixedRun(redisStore({ client, prefix: "mine" }));
    expect((await client.keys("*")).filter((key) => !key.startsWith("mine:{"))).toEqual([]);
  });
});

describe("batches", () => {
  /** A client that notes every call of the script before it goes out. */
  function noting(client: Redis) {
    const calls: { keys: number }[] = [];
    return {
      calls,
      on: () => {},
      callBuffer(...args: [string, ...(string | Buffer)[]]) {
        if (args[0] === "EVALSHA") calls.push({ keys: Number(args[2]) });
        return client.callBuffer(...args);
      },
    };
  }

  it("what is asked in one tick shares calls, the larger the more is unanswered, and never more than 64", async () => {
    const client = noting(redis);
    const store = redisStore({ client, prefix: uniquePrefix() });
    await store.decide([check("first")]);
    client.calls.length = 0;
    const answers = await Promise.all(Array.from({ length: 600 }, (_, i) => store.decide([check(`k${i}`)])));
    expect(answers.every(([verdict]) => verdict?.remaining === 4)).toBe(true);
    const sizes = client.calls.map(({ keys }) => keys);
    expect(sizes[0]).toBe(8);
    expect(Math.max(...sizes)).toBe(64);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(600);
    expect(sizes.length).toBeLessThan(600 / 20);
  });

  it("keys that several requests of a call ask about, beside keys that stand there once, are counted as one after the other", async () => {
    const pair = [fixedWindow({ limit: 4, window: "1m" }), fixedWindow({ limit: 9, window: "1h" })];
    const limits = [...everyLimit.map((each) => [each]), pair, [everyLimit[0], everyLimit[3]] as Limit[]];
    const rules = limits.map((some, i) => ({ name: `rule ${i}`, limits: some }));
    const question = fc.record({
      rule: fc.constantFrom(...rules),
      key: fc.constantFrom("shared", "other", "a", "b", "c"),
      shadow: fc.boolean(),
    });
    const request = fc.uniqueArray(question, {
      minLength: 1,
      maxLength: 4,
      selector: ({ rule, key }) => `${rule.name} ${key}`,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(request, { minLength: 2, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(undefined, "corrupt"),
        async (ticks, garbage) => {
          const clock = virtualClock(1_700_000_000_000);
          const prefix = uniquePrefix();
          const store = redisStore({ client: redis, prefix, clock, onWarning() {} });
          const memory = memoryStore({ clock });
          if (garbage !== undefined) await redis.set(`${prefix}:{shared}:rule 0`, garbage);
          for (const requests of ticks) {
            const asked = requests.map((questions) =>
              questions.flatMap(({ rule: { name, limits }, key, shadow }) =>
                limits.map((limit): Check => ({ rule: name, key, limit, shadow })),
              ),
            );
            const told = await Promise.all(asked.map((checks) => store.decide(checks)));
            const expected = asked.map((checks) => memory.decide(checks));
            const seen = (verdicts: readonly Verdict[]) =>
              verdicts.map(({ allowed, remaining }) => ({ allowed, remaining }));
            expect(told.map(seen)).toEqual(expected.map(seen));
            clock.advance(1000);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("a call on its own waits for no other", async () => {
    const client = noting(redis);
    const store = redisStore({ client, prefix: uniquePrefix() });
    for (let i = 0; i < 5; i++) await store.decide([check()]);
    expect(client.calls).toHaveLength(5);
  });

  it("several are under way at once", async () => {
    const proxy = await own(faultProxy(inject("redisPort")));
    const client = noting(ioredis(proxy.port));
    const store = redisStore({ client, prefix: uniquePrefix() });
    await store.decide([check()]);
    client.calls.length = 0;
    proxy.delay(200);
    let answered = 0;
    const answers: Promise<unknown>[] = [];
    for (let tick = 0; tick < 4; tick++) {
      answers.push(Promise.resolve(store.decide([check()])).then(() => answered++));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(client.calls).toHaveLength(4);
    expect(answered).toBe(0);
    await Promise.all(answers);
    expect(await store.peek([check()])).toMatchObject([{ remaining: 0 }]);
  });

  it("requests of many rules are spread over more calls, so that none is too large for Redis", async () => {
    const client = noting(redis);
    const store = redisStore({ client, prefix: uniquePrefix() });
    const rules = Array.from({ length: 80 }, (_, i) => `rule ${i}`);
    const answers = await Promise.all(
      Array.from({ length: 128 }, (_, i) => store.decide(rules.map((rule) => ({ ...check(`k${i}`), rule })))),
    );
    expect(answers.every((verdicts) => verdicts.every(({ remaining }) => remaining === 4))).toBe(true);
    for (const { keys } of client.calls) expect(keys).toBeLessThanOrEqual(1024);
  });

  it("a hundred customers with limits of their own, 20 each, fit", async () => {
    const store = redisStore({ client: redis, prefix: uniquePrefix() });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, customer) =>
        store.decide(
          Array.from({ length: 20 }, (_, i) =>
            check(`c${customer}`, fixedWindow({ limit: 5 + customer, window: (i + 1) * 1000 })),
          ),
        ),
      ),
    );
    answers.forEach((verdicts, customer) => {
      expect(verdicts.every(({ remaining }) => remaining === 4 + customer)).toBe(true);
    });
  });

  it("peeks, decisions and different deadlines in one tick keep their order", async () => {
    const store = redisStore({ client: redis, prefix: uniquePrefix() });
    const asked = [
      store.decide([check()]),
      store.peek([check()]),
      store.decide([check()], { deadlineMs: 10_000 }),
      store.peek([check()], { deadlineMs: 10_000 }),
      store.decide([check()]),
    ];
    const answers = await Promise.all(asked);
    expect(answers.map(([verdict]) => verdict?.remaining)).toEqual([4, 4, 3, 3, 2]);
  });
});

describe("what a Redis says of itself", () => {
  it.each(["allkeys-lru", "allkeys-random", "volatile-ttl"])(
    "maxmemory with %s is warned of, once, by name",
    async (policy) => {
      const server = await own(startRedis({ args: ["--maxmemory", "100mb", "--maxmemory-policy", policy] }));
      const onWarning = vi.fn();
      const store = redisStore({ client: ioredis(server.port), onWarning });
      await Promise.all([store.decide([check()]), store.peek([check()]), store.hold("r", "other", 1000)]);
      await store.decide([check()]);
      expect(onWarning).toHaveBeenCalledTimes(1);
      expect(onWarning.mock.lastCall?.[0]).toContain(policy);
      expect(onWarning.mock.lastCall?.[0]).toContain("TG_REDIS_EVICTS");
    },
  );

  it("noeviction is not, nor is a policy without maxmemory", async () => {
    const limited = await own(
      startRedis({ args: ["--maxmemory", "100mb", "--maxmemory-policy", "noeviction"] }),
    );
    const unlimited = await own(startRedis({ args: ["--maxmemory-policy", "allkeys-lru"] }));
    for (const { port } of [limited, unlimited]) {
      const onWarning = vi.fn();
      await redisStore({ client: ioredis(port), onWarning }).decide([check()]);
      expect(onWarning).not.toHaveBeenCalled();
    }
  });
});

describe("what redisStore is handed", () => {
  const nodeRedis4 = {
    sendCommand: () => Promise.resolve(),
    multi: () => {},
    v4: {},
    isOpen: true,
    isReady: true,
    connect: () => Promise.resolve(),
  };

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a URL", "redis://127.0.0.1:6379"],
    ["a number", 6379],
    ["an empty object", {}],
    ["a class", Redis],
    ["a client of node-redis 4", nodeRedis4],
    ["a Map", new Map()],
  ])("%s is no client, and it says what is", (_, client) => {
    const make = () => redisStore({ client: client as object });
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(
      expect.objectContaining({
        code: "TG_REDIS_CLIENT",
        path: "redisStore.client",
        help: expect.stringMatching(/ioredis 5\/6.*node-redis 5\/6/),
      }),
    );
  });

  it.each([undefined, null, "redis://127.0.0.1", 7])("%o instead of options is refused", (options) => {
    expect(() => redisStore(options as never)).toThrow(
      expect.objectContaining({ code: "TG_OPTIONS", path: "redisStore" }),
    );
  });

  it("an unknown option is refused by name", () => {
    expect(() => redisStore({ client: redis, keyPrefix: "x" } as never)).toThrow(
      expect.objectContaining({ code: "TG_OPTION_UNKNOWN", path: "redisStore.keyPrefix" }),
    );
  });

  it.each(["", "a b", "a{b}", "}", "é", "new\nline", "x".repeat(65), 7, null])(
    "the prefix %o is refused",
    (prefix) => {
      expect(() => redisStore({ client: redis, prefix: prefix as string })).toThrow(
        expect.objectContaining({ code: "TG_PREFIX", path: "redisStore.prefix" }),
      );
    },
  );

  it("a limit without a Lua twin is refused when the limiter is made, not at its first call", () => {
    const foreign = { ...limit, kind: "homemade", id: "hm" };
    expect(() => createLimiter({ name: "r", limit: foreign, store: redisStore({ client: redis }) })).toThrow(
      expect.objectContaining({ code: "TG_LIMIT_KIND" }),
    );
  });

  it("a client with a key prefix of its own works", async () => {
    const prefix = uniquePrefix();
    const store = redisStore({ client: ioredis(inject("redisPort"), { keyPrefix: "app:" }), prefix });
    await store.decide([check()]);
    expect(await store.decide([check()])).toMatchObject([{ remaining: 3 }]);
    expect(await redis.keys(`app:${prefix}:*`)).toHaveLength(1);
    await store.forget([check()]);
    expect(await store.peek([check()])).toMatchObject([{ remaining: 5 }]);
  });
});
