import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, inject, test } from "vitest";
import { ask } from "../../../../../test/servers/child-server.js";
import { type ChildServer, faultProxy, startMemcached } from "../../../../../test/servers/index.js";
import { earrrl } from "../../algorithms/earrrl/earrrl.js";
import { fixedWindow } from "../../algorithms/fixed-window/fixed-window.js";
import type { Check } from "../../check.js";
import type { Verdict } from "../../decision.js";
import { ConfigError } from "../../errors.js";
import { createLimiter } from "../../index.js";
import type { Limit } from "../../limit.js";
import { storeContract } from "../../testing/store-contract.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { unreachable } from "./failures.js";
import { type MemcachedClient, memcachedClient } from "./memcached-client.js";
import { type MemcachedStore, type MemcachedStoreOptions, memcachedStore } from "./memcached-store.js";

const port = inject("memcachedPort");
const shared = memcachedClient({ servers: [`127.0.0.1:${port}`] });
afterAll(() => shared.close());

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function started<S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  cleanups.push(() => server.stop());
  return server;
}

function open(options: Partial<MemcachedStoreOptions> = {}): MemcachedStore {
  const store = memcachedStore({
    ...(options.servers === undefined && { client: shared }),
    prefix: `t:${crypto.randomUUID()}`,
    ...options,
  });
  cleanups.push(() => store.close?.());
  return store;
}

/** Comes back once it is silent: a signal takes effect a moment after it was sent. */
async function freeze(server: ChildServer): Promise<void> {
  server.freeze();
  await expect.poll(() => ask(server.port, "mn\r\n", 50).catch(() => "silence")).toBe("silence");
}

const perMinute = (limit: number) => fixedWindow({ limit, window: "1m", align: "first-hit" });
const three = [
  perMinute(5),
  fixedWindow({ limit: 50, window: "1h", align: "first-hit" }),
  earrrl({ rate: 10, halfLife: "1m" }),
];
const passed = (answers: readonly Verdict[][]) =>
  answers.filter((verdicts) => verdicts.every(({ allowed }) => allowed)).length;

storeContract("memcachedStore on one server", {
  open: (clock) => memcachedStore({ client: shared, prefix: `t:${crypto.randomUUID()}`, clock }),
  ledgers: false,
});

describe("two servers", async () => {
  const second = await startMemcached();
  const client = memcachedClient({ servers: [`127.0.0.1:${port}`, `127.0.0.1:${second.port}`] });
  afterAll(async () => {
    client.close();
    await second.stop();
  });
  storeContract("memcachedStore on two servers", {
    open: (clock) => memcachedStore({ client, prefix: `t:${crypto.randomUUID()}`, clock }),
    ledgers: false,
  });
});

describe("many at once", () => {
  test.each<[string, Limit[]]>([
    ["one limit", [perMinute(5)]],
    ["three limits", three],
  ])("exactly the limit passes, for %s", async (_, limits) => {
    const store = open();
    const checks = limits.map((limit) => ({ rule: "r", key: "k", limit }));
    expect(passed(await Promise.all(Array.from({ length: 200 }, () => store.decide(checks))))).toBe(5);
  });

  test.each<[string, Limit[]]>([
    ["one limit", [perMinute(5)]],
    ["three limits", three],
  ])(
    "exactly the limit passes through ten stores that know nothing of each other, for %s",
    async (_, limits) => {
      const prefix = `t:${crypto.randomUUID()}`;
      const stores = Array.from({ length: 10 }, () => open({ servers: [`127.0.0.1:${port}`], prefix }));
      const checks = limits.map((limit) => ({ rule: "r", key: "k", limit }));
      const answers = await Promise.all(
        stores.flatMap((store) => Array.from({ length: 20 }, () => store.decide(checks))),
      );
      expect(passed(answers)).toBe(5);
    },
  );

  test("over several keys at most the limit passes, and what the refused charged is given back", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const stores = Array.from({ length: 4 }, () => open({ servers: [`127.0.0.1:${port}`], prefix }));
    const checks: Check[] = [
      { rule: "a", key: "x", limit: perMinute(1000) },
      { rule: "b", key: "y", limit: perMinute(5) },
      { rule: "c", key: "z", limit: perMinute(1000) },
    ];
    const answers = await Promise.all(
      stores.flatMap((store) => Array.from({ length: 50 }, () => store.decide(checks))),
    );
    const count = passed(answers);
    expect(count).toBe(5);
    expect((await open({ prefix }).peek(checks)).map(({ remaining }) => remaining)).toEqual([995, 0, 995]);
  });

  test("refunds, holds and hits on one key at once all take effect", async () => {
    const store = open();
    const check = { rule: "r", key: "k", limit: perMinute(1000) };
    await Promise.all(Array.from({ length: 50 }, () => store.decide([check])));
    await Promise.all([
      ...Array.from({ length: 20 }, () => store.refund([check])),
      ...Array.from({ length: 10 }, () => store.decide([check])),
    ]);
    expect((await store.peek([check]))[0]?.remaining).toBe(960);
    await Promise.all([store.hold("r", "k", 60_000), store.decide([check])]);
    expect((await store.peek([check]))[0]).toMatchObject({ allowed: false });
  });
});

describe("round trips", () => {
  test("a refused decision writes nothing, over several keys neither", async () => {
    const memcached = await started(startMemcached());
    const store = open({ servers: [`127.0.0.1:${memcached.port}`] });
    const closed = { rule: "closed", key: "k", limit: perMinute(0) };
    await store.decide([closed]);
    await store.decide([{ rule: "open", key: "k", limit: perMinute(5) }, closed]);
    expect(await ask(memcached.port, "stats\r\n")).toMatch(/STAT cmd_set 0\r/);
  });

  test("what waits for one item goes in one round", async () => {
    const memcached = await started(startMemcached());
    const store = open({ servers: [`127.0.0.1:${memcached.port}`] });
    const check = { rule: "r", key: "k", limit: perMinute(1000) };
    await Promise.all(Array.from({ length: 100 }, () => store.decide([check])));
    const stats = await ask(memcached.port, "stats\r\n");
    expect(Number(/STAT cmd_set (\d+)/.exec(stats)?.[1])).toBeLessThanOrEqual(2);
  });
});

test("a call that loses every race fails after 64 tries, and counts nothing", async () => {
  let puts = 0;
  const client = {
    ...shared,
    put: async () => {
      puts++;
      return { isStored: false, version: undefined };
    },
  };
  const prefix = `t:${crypto.randomUUID()}`;
  const check = { rule: "r", key: "k", limit: perMinute(5) };
  await expect(open({ client, prefix }).decide([check])).rejects.toMatchObject({
    code: "TG_STORE_CONTENDED",
    transient: true,
  });
  expect(puts).toBe(64);
  expect((await open({ prefix }).peek([check]))[0]?.remaining).toBe(5);
});

describe("what memcached holds", () => {
  const check = { rule: "r", key: "k", limit: perMinute(5) };

  test.each(["", "x", "17", "aaaaaaaaaaaaaaaa", JSON.stringify({ points: 3 }), "z".repeat(5000)])(
    "a value of someone else (%j) is begun afresh, counted, and told of once",
    async (foreign) => {
      const warnings: string[] = [];
      const prefix = `t:${crypto.randomUUID()}`;
      const store = open({ prefix, onWarning: (message) => warnings.push(message) });
      for (const key of ["k", "l"])
        await ask(port, `ms ${prefix}:{${key}}:r ${foreign.length} T60\r\n${foreign}\r\n`);
      expect((await store.peek([check]))[0]).toMatchObject({ remaining: 5 });
      expect(store.resets).toBe(0);
      for (const key of ["k", "l"])
        expect((await store.decide([{ ...check, key }]))[0]).toMatchObject({ allowed: true, remaining: 4 });
      expect(store.resets).toBe(2);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain("TG_STATE_CORRUPT");
      expect((await store.decide([check]))[0]).toMatchObject({ remaining: 3 });
    },
  );

  test("an item lives a little longer than it has something to say, and a hold as long as it lasts", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const store = open({ prefix });
    const ttl = async () => Number(/t(-?\d+)/.exec(await ask(port, `mg ${prefix}:{k}:r t\r\n`))?.[1]);
    await store.decide([check]);
    expect(await ttl()).toBeGreaterThanOrEqual(60);
    expect(await ttl()).toBeLessThanOrEqual(72);
    await store.hold("r", "k", 400 * 86_400_000);
    expect(await ttl()).toBeGreaterThanOrEqual(400 * 86_400);
    expect((await store.decide([check]))[0]).toMatchObject({ allowed: false });
    expect(await ttl()).toBeGreaterThanOrEqual(400 * 86_400);
    await store.hold("r", "k", Number.POSITIVE_INFINITY);
    expect(await ttl()).toBe(-1);
  });

  test("a window of a second and a half is not forgotten by memcached's whole seconds", async () => {
    const store = open();
    const brief = { rule: "r", key: "k", limit: fixedWindow({ limit: 1, window: 1500, align: "first-hit" }) };
    expect((await store.decide([brief]))[0]?.allowed).toBe(true);
    const until = performance.now() + 1400;
    while (performance.now() < until) {
      expect((await store.decide([brief]))[0]?.allowed).toBe(false);
      await sleep(50);
    }
  });

  test("an item evicted starts afresh, and nothing else breaks", async () => {
    const memcached = await started(startMemcached({ args: ["-m", "2"] }));
    const store = open({ servers: [`127.0.0.1:${memcached.port}`] });
    await store.decide([check]);
    for (let round = 0; round < 40; round++)
      await Promise.all(
        Array.from({ length: 500 }, (_, i) => store.decide([{ ...check, key: `filler:${round}:${i}` }])),
      );
    expect(await ask(memcached.port, "stats\r\n")).toMatch(/STAT evictions [1-9]/);
    expect((await store.peek([check]))[0]).toMatchObject({ allowed: true, remaining: 5 });
  });
});

describe("deadlines", () => {
  const check = { rule: "r", key: "k", limit: perMinute(5) };

  test("a read that comes back too late is not followed by a write", async () => {
    const memcached = await started(startMemcached());
    const proxy = await started(faultProxy(memcached.port));
    const store = open({ servers: [`127.0.0.1:${proxy.port}`] });
    await store.peek([check]);
    proxy.delay(60);
    for (const checks of [[check], [check, { ...check, rule: "s" }]])
      await expect(store.decide(checks, { deadlineMs: 30 })).rejects.toMatchObject({ code: "TG_STORE_LATE" });
    await expect(store.hold("r", "k", 1000, { deadlineMs: 30 })).rejects.toMatchObject({
      code: "TG_STORE_LATE",
    });
    expect(await ask(memcached.port, "stats\r\n")).toMatch(/STAT cmd_set 0\r/);
  });

  test.each<[string, Check[]]>([
    ["one key", [check]],
    ["two keys", [check, { ...check, key: "l" }]],
    [
      "a limit that counts refusals",
      [{ ...check, limit: fixedWindow({ limit: 5, window: "1m", align: "first-hit", countRefused: true }) }],
    ],
  ])("a charge confirmed too late is given back: %s", async (_, checks) => {
    const prefix = `t:${crypto.randomUUID()}`;
    let charged = 0;
    const client: MemcachedClient = {
      ...shared,
      async put(...args) {
        const put = await shared.put(...args);
        charged++;
        if (charged <= checks.length) await sleep(520);
        return put;
      },
    };
    await expect(open({ client, prefix }).decide(checks, { deadlineMs: 500 })).rejects.toMatchObject({
      code: "TG_STORE_LATE",
    });
    expect(charged).toBeGreaterThanOrEqual(checks.length);
    const left = async () => (await open({ prefix }).peek(checks)).map(({ remaining }) => remaining);
    await expect.poll(left).toEqual(checks.map(() => 5));
  });

  test("when one of several keys can not be charged, the others get theirs back", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const client: MemcachedClient = {
      ...shared,
      async put(key, ...args) {
        const put = await shared.put(key, ...args);
        if (key === `${prefix}:{b}:r`) throw unreachable("the answer was lost.");
        return put;
      },
    };
    const checks = ["a", "b", "c"].map((key) => ({ ...check, key }));
    await expect(open({ client, prefix }).decide(checks)).rejects.toThrow("the answer was lost");
    const left = async () => (await open({ prefix }).peek(checks)).map(({ remaining }) => remaining);
    // What was charged without our knowing stays charged: the safe side.
    await expect.poll(left).toEqual([5, 4, 5]);
  });
});

describe("when memcached fails", () => {
  function guarded(store: MemcachedStore) {
    return createLimiter({
      name: "api",
      limit: perMinute(1000),
      store,
      deadlineMs: 100,
      breaker: { failures: 3, pauseMs: 100 },
    });
  }

  async function untilFromStore(limiter: ReturnType<typeof guarded>): Promise<void> {
    await expect.poll(async () => (await limiter.consume("k")).source, { timeout: 8000 }).toBe("store");
  }

  /** Every answer comes from this process, and none takes longer than the deadline allows. */
  async function expectLocal(limiter: ReturnType<typeof guarded>): Promise<void> {
    for (let i = 0; i < 6; i++) {
      const began = performance.now();
      expect(await limiter.consume("k")).toMatchObject({ allowed: true, source: "local" });
      expect(performance.now() - began).toBeLessThan(250);
    }
  }

  test("killed and restarted, decisions go on locally and come back", async () => {
    const memcached = await started(startMemcached());
    const limiter = guarded(open({ servers: [`127.0.0.1:${memcached.port}`] }));
    expect((await limiter.consume("k")).source).toBe("store");
    await memcached.kill();
    await expectLocal(limiter);
    await memcached.restart();
    await untilFromStore(limiter);
  });

  test("frozen, decisions are answered within the deadline, and come back after the thaw", async () => {
    const memcached = await started(startMemcached());
    const limiter = guarded(open({ servers: [`127.0.0.1:${memcached.port}`] }));
    expect((await limiter.consume("k")).source).toBe("store");
    await freeze(memcached);
    await expectLocal(limiter);
    memcached.thaw();
    await untilFromStore(limiter);
    // The reads that were frozen with it led to no charge: the one before, and the one that proved it back.
    expect((await limiter.peek("k")).remaining).toBe(998);
  });

  test("frozen for longer than patience lasts, the connection is given up and made anew", async () => {
    const memcached = await started(startMemcached());
    const store = open({ servers: [`127.0.0.1:${memcached.port}`] });
    const check = { rule: "r", key: "k", limit: perMinute(5) };
    await store.decide([check]);
    await freeze(memcached);
    await expect(store.decide([check])).rejects.toMatchObject({
      code: "TG_STORE_UNREACHABLE",
      transient: true,
    });
    memcached.thaw();
    await expect.poll(async () => store.decide([check]), { timeout: 8000 }).toBeDefined();
  });

  test("down at boot, it is found once it is there", async () => {
    const memcached = await started(startMemcached());
    await memcached.kill();
    const limiter = guarded(open({ servers: [`127.0.0.1:${memcached.port}`] }));
    await expectLocal(limiter);
    await memcached.restart();
    await untilFromStore(limiter);
  });

  test("connections cut again and again, never more than the limit passes", async () => {
    const memcached = await started(startMemcached());
    const proxy = await started(faultProxy(memcached.port));
    const store = open({ servers: [`127.0.0.1:${proxy.port}`] });
    const check = { rule: "r", key: "k", limit: perMinute(50) };
    const left = async () => (await store.peek([check]))[0]?.remaining as number;
    let allowed = 0;
    let lost = 0;
    for (let round = 0; round < 20; round++) {
      await expect.poll(() => left().catch(() => undefined), { interval: 2 }).toBeDefined();
      const asked = Array.from({ length: 10 }, async () => store.decide([check]));
      const cut = sleep(Math.random() * 2).then(() => proxy.cut());
      for (const outcome of await Promise.allSettled(asked)) {
        if (outcome.status === "rejected") lost++;
        else if (outcome.value[0]?.allowed) allowed++;
      }
      await cut;
    }
    expect(allowed + lost).toBeGreaterThan(0);
    await expect.poll(() => left(), { interval: 20 }).toBeLessThanOrEqual(50 - allowed);
  });

  test("with two servers, the keys of the one that lives are counted as ever", async () => {
    const [a, b] = await Promise.all([started(startMemcached()), started(startMemcached())]);
    const store = open({ servers: [`127.0.0.1:${a.port}`, `127.0.0.1:${b.port}`] });
    const checks = Array.from({ length: 40 }, (_, i) => ({ rule: "r", key: `k${i}`, limit: perMinute(5) }));
    await Promise.all(checks.map((check) => store.decide([check])));
    await b.kill();
    const outcomes = await Promise.allSettled(checks.map((check) => store.decide([check])));
    const alive = outcomes.filter(({ status }) => status === "fulfilled") as PromiseFulfilledResult<
      Verdict[]
    >[];
    expect(alive.length).toBeGreaterThan(5);
    expect(alive.length).toBeLessThan(35);
    for (const { value } of alive) expect(value[0]?.remaining).toBe(3);
  });
});

describe("what it can not promise is refused when built", () => {
  const log: Limit = {
    ...perMinute(5),
    kind: "sliding-log",
    cells: 0,
    ledger: { facts: 2, open: () => ({}) as never },
  };

  test("a limit that grows with use, with the alternatives", async () => {
    const store = open();
    expect(() => createLimiter({ name: "sms", limit: log, store })).toThrow(ConfigError);
    expect(() => createLimiter({ name: "sms", limit: log, store })).toThrow(
      /redisStore.*TG_MEMCACHED_LEDGER/,
    );
    await expect(store.decide([{ rule: "r", key: "k", limit: log }])).rejects.toThrow("TG_MEMCACHED_LEDGER");
    await expect(store.refund([{ rule: "r", key: "k", limit: log }])).rejects.toThrow("TG_MEMCACHED_LEDGER");
  });

  test.each<[string, unknown]>([
    ["TG_MEMCACHED_SERVERS", {}],
    ["TG_MEMCACHED_SERVERS", { servers: ["a"], client: shared }],
    ["TG_MEMCACHED_SERVERS", { client: { get() {}, set() {} } }],
    ["TG_MEMCACHED_SERVERS", { servers: [] }],
    ["TG_PREFIX", { client: shared, prefix: "" }],
    ["TG_PREFIX", { client: shared, prefix: "a b" }],
    ["TG_PREFIX", { client: shared, prefix: "%m" }],
    ["TG_OPTION_UNKNOWN", { client: shared, server: "a" }],
    ["TG_OPTIONS", undefined],
  ])("%s for %o", (code, options) => {
    expect(() => memcachedStore(options as MemcachedStoreOptions)).toThrow(code);
  });
});

test("clocks a minute apart let nobody through twice in a window that both see", async () => {
  const prefix = `t:${crypto.randomUUID()}`;
  const [early, late] = [virtualClock(1_700_000_000_000), virtualClock(1_700_000_060_000)];
  const check = { rule: "r", key: "k", limit: fixedWindow({ limit: 2, window: "1h" }) };
  const stores = [open({ prefix, clock: late }), open({ prefix, clock: early })];
  const answers: boolean[] = [];
  for (let i = 0; i < 4; i++)
    answers.push((await (stores[i % 2] as MemcachedStore).decide([check]))[0]?.allowed as boolean);
  expect(answers).toEqual([true, true, false, false]);
});

test("closing a store closes the sockets it opened, and no client handed in", async () => {
  const check = { rule: "r", key: "k", limit: perMinute(5) };
  const own = open({ servers: [`127.0.0.1:${port}`] });
  await own.decide([check]);
  await own.close?.();
  await expect(own.decide([check])).rejects.toThrow("closed");
  const borrowed = open();
  await borrowed.close?.();
  expect((await borrowed.decide([check]))[0]?.allowed).toBe(true);
});
