import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import type { Verdict } from "../../decision.js";
import { createLimiter } from "../../index.js";
import { exceeds, type Limit } from "../../limit.js";
import type { Store } from "../../store.js";
import { memoryStore } from "../../stores/memory/memory-store.js";
import { redisStore } from "../../stores/redis/redis-store.js";
import { differences } from "../../testing/vector.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { Log } from "./log.js";
import { slidingLog } from "./sliding-log.js";

const start = 1_700_000_000_000;
const windowMs = 1000;
let client: Redis;

beforeAll(() => {
  client = new Redis(inject("redisPort"));
});
afterAll(() => client.disconnect());

function openRedis(clock?: () => number): {
  store: ReturnType<typeof redisStore>;
  keyOf: (limit: Limit) => string;
} {
  const prefix = `t:${crypto.randomUUID()}`;
  return {
    store: redisStore({ client, prefix, ...(clock && { clock }), onWarning() {} }),
    keyOf: (limit) => `${prefix}:{k}:r:${limit.id}`,
  };
}

async function ask(
  store: Store,
  verb: "decide" | "peek",
  limit: Limit,
  { cost = 1, id }: { cost?: number; id?: string | undefined } = {},
): Promise<Verdict> {
  const check = { rule: "r", key: "k", limit, cost, ...(id !== undefined && { id }) };
  return ((await store[verb]([check])) as Verdict[])[0] as Verdict;
}

/** The definition, as slow as it is plain: every entry ever made, filtered on every call. */
class NaiveLog {
  entries: { time: number; cost: number; id: string | undefined }[] = [];

  inWindow(now: number) {
    const newest = this.entries.at(-1)?.time ?? now;
    const time = Math.max(now, newest);
    return this.entries.filter((entry) => entry.time > time - windowMs);
  }

  judge(limit: number, now: number, cost: number, id: string | undefined) {
    const counted = this.inWindow(now);
    const used = counted.reduce((sum, entry) => sum + entry.cost, 0);
    const isKnown = id !== undefined && counted.some((entry) => entry.id === id);
    const allowed = isKnown || !exceeds(used + cost, limit);
    return { allowed, isKnown, used };
  }

  decide(limit: number, now: number, cost: number, id: string | undefined) {
    const { allowed, isKnown, used } = this.judge(limit, now, cost, id);
    const charged = allowed && !isKnown;
    if (charged) {
      // Only entries that still count are kept, as if the rest had never been.
      this.entries = this.inWindow(now);
      this.entries.push({ time: Math.max(now, this.entries.at(-1)?.time ?? now), cost, id });
    }
    return { allowed, remaining: Math.max(0, limit - used - (charged ? cost : 0)) };
  }

  refundId(now: number, id: string): void {
    const entry = this.inWindow(now).find((one) => one.id === id);
    if (entry !== undefined) this.entries.splice(this.entries.indexOf(entry), 1);
  }
}

interface Act {
  verb: "decide" | "peek" | "refund" | "refundId";
  waitMs: number;
  cost: number;
  id: string | undefined;
  ago: number;
  limit: number;
}

const waits = fc.oneof(
  { weight: 6, arbitrary: fc.nat(400) },
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(windowMs, windowMs + 1, -1, -700, -5000) },
);
const acts = (costs: fc.Arbitrary<number>, limits: fc.Arbitrary<number>): fc.Arbitrary<Act[]> =>
  fc.array(
    fc.record({
      verb: fc.constantFrom("decide", "decide", "decide", "decide", "peek", "refund", "refundId"),
      waitMs: waits,
      cost: costs,
      id: fc.option(fc.constantFrom("a", "b", "c", "d"), { nil: undefined, freq: 2 }),
      ago: fc.nat(600),
      limit: limits,
    }),
    { minLength: 1, maxLength: 60 },
  );
const wholeCosts = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 6 }));

describe("the sliding log", () => {
  it("says what the definition says", async () => {
    await fc.assert(
      fc.asyncProperty(acts(wholeCosts, fc.constantFrom(10, 10, 10, 4, 15)), async (trace) => {
        const clock = virtualClock(start);
        const store = memoryStore({ clock });
        const model = new NaiveLog();
        for (const act of trace) {
          clock.advance(act.waitMs);
          const now = clock();
          const limit = slidingLog({ limit: act.limit, window: windowMs });
          if (act.verb === "refundId") {
            const id = act.id ?? "a";
            model.refundId(now, id);
            store.refund([{ rule: "r", key: "k", limit, id }]);
          } else if (act.verb === "decide") {
            const verdict = await ask(store, "decide", limit, act);
            const { allowed, remaining } = model.decide(act.limit, now, act.cost, act.id);
            expect({ allowed: verdict.allowed, remaining: verdict.remaining }).toEqual({
              allowed,
              remaining,
            });
          } else {
            const verdict = await ask(store, "peek", limit, act);
            expect(verdict.allowed).toBe(model.judge(act.limit, now, act.cost, act.id).allowed);
          }
        }
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it("never lets more than N into any window", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ waitMs: fc.nat(300), cost: wholeCosts }), { maxLength: 120 }),
        async (trace) => {
          const clock = virtualClock(start);
          const store = memoryStore({ clock });
          const limit = slidingLog({ limit: 7, window: windowMs });
          const passed: { at: number; cost: number }[] = [];
          for (const { waitMs, cost } of trace) {
            clock.advance(waitMs);
            const { allowed, at } = await ask(store, "decide", limit, { cost });
            if (allowed) passed.push({ at, cost });
          }
          for (const { at: end } of passed) {
            const sum = passed
              .filter(({ at }) => at > end - windowMs && at <= end)
              .reduce((total, { cost }) => total + cost, 0);
            expect(sum).toBeLessThanOrEqual(7);
          }
        },
      ),
      { numRuns: 300, seed: 2 },
    );
  });

  it("passes exactly when it said it would, and not a millisecond before", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ waitMs: fc.nat(300), cost: wholeCosts }), { minLength: 5, maxLength: 60 }),
        async (trace) => {
          const clock = virtualClock(start);
          const store = memoryStore({ clock });
          const limit = slidingLog({ limit: 6, window: windowMs });
          for (const { waitMs, cost } of trace) {
            clock.advance(waitMs);
            const { allowed, retryAfterMs } = await ask(store, "decide", limit, { cost });
            if (allowed) continue;
            const now = clock();
            clock.set(now + retryAfterMs - 1);
            expect((await ask(store, "peek", limit, { cost })).allowed).toBe(false);
            clock.set(now + retryAfterMs);
            expect((await ask(store, "peek", limit, { cost })).allowed).toBe(true);
            clock.set(now);
          }
        },
      ),
      { numRuns: 300, seed: 3 },
    );
  });

  const sums = fc.constantFrom(10, 10, 10, 3, 20);
  it.each([
    ["whole costs", wholeCosts, sums],
    ["fractions", fc.constantFrom(0.1, 0.25, 1 / 3, 1, 2.7), sums],
    ["sums that begin again at 0", fc.constantFrom(10.5, 0.001, 0.003), fc.constantFrom(20, 0.01)],
    ["sums beyond 2^53", fc.constantFrom(2 ** 52, 2 ** 53 - 1, 1, 3), fc.constant(2 ** 53 - 1)],
  ] as const)("is the same on Redis, verdict for verdict: %s", async (_, costs, limits) => {
    await fc.assert(
      fc.asyncProperty(acts(costs, limits), async (trace) => {
        const clock = virtualClock(start);
        const stores = [memoryStore({ clock }), openRedis(clock).store] as const;
        for (const [step, act] of trace.entries()) {
          clock.advance(act.waitMs);
          const limit = slidingLog({ limit: act.limit, window: windowMs, onWarning() {} });
          const { cost, id } = act;
          if (act.verb === "refund" || act.verb === "refundId") {
            const own = act.verb === "refundId" && { id: id ?? "a" };
            const charge = { rule: "r", key: "k", limit, cost, at: clock() - act.ago, ...own };
            for (const store of stores) await store.refund([charge]);
          } else {
            const [inMemory, onRedis] = await Promise.all(
              stores.map((store) => ask(store, act.verb as "decide" | "peek", limit, { cost, id })),
            );
            expect(differences(onRedis as Verdict, inMemory as Verdict), `step ${step}`).toEqual([]);
          }
        }
      }),
      { numRuns: 150, seed: 4 },
    );
  });

  it("as a list it says what the sorted set says, in the process and on Redis", async () => {
    await fc.assert(
      fc.asyncProperty(acts(fc.constant(1), fc.constantFrom(4, 4, 4, 2, 9)), async (trace) => {
        const clock = virtualClock(start);
        const [sets, lists] = [memoryStore({ clock }), memoryStore({ clock })];
        const { store: onRedis, keyOf } = openRedis(clock);
        for (const [step, act] of trace.entries()) {
          clock.advance(act.waitMs);
          const set = slidingLog({ limit: act.limit, window: windowMs });
          const list = slidingLog({ limit: act.limit, window: windowMs, encoding: "list" });
          if (act.verb === "refund" || act.verb === "refundId") {
            const charge = {
              rule: "r",
              key: "k",
              cost: act.verb === "refund" ? 1 : 2,
              at: clock() - act.ago,
            };
            sets.refund([{ ...charge, limit: set }]);
            lists.refund([{ ...charge, limit: list }]);
            await onRedis.refund([{ ...charge, limit: list }]);
            continue;
          }
          const expected = await ask(sets, act.verb, set);
          expect(differences(await ask(lists, act.verb, list), expected), `step ${step}`).toEqual([]);
          expect(differences(await ask(onRedis, act.verb, list), expected), `step ${step}`).toEqual([]);
          expect(await client.llen(keyOf(list))).toBeLessThanOrEqual(9);
        }
      }),
      { numRuns: 150, seed: 5 },
    );
  });

  it("a log that lives long with fractions neither drifts nor grows", async () => {
    const clock = virtualClock(start);
    const stores = [memoryStore({ clock }), openRedis(clock).store];
    const limit = slidingLog({ limit: 0.3, window: 10 });
    for (let i = 0; i < 5000; i++) {
      clock.advance(4);
      const verdicts = await Promise.all(stores.map((store) => ask(store, "decide", limit, { cost: 0.1 })));
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true]);
      expect(verdicts[0]?.remaining).toBe(verdicts[1]?.remaining);
    }
    expect((await ask(stores[0] as Store, "peek", limit, { cost: 0.1 })).remaining).toBeCloseTo(0, 9);
  });

  it("an id is charged once by the limiter, and again after its refund", async () => {
    const limiter = createLimiter({ name: "transfers", limit: slidingLog({ limit: 2000, window: "1d" }) });
    const first = await limiter.consume("user", { cost: 1500, id: "t1" });
    const retried = await limiter.consume("user", { cost: 1500, id: "t1" });
    expect([first.allowed, retried.allowed, retried.remaining]).toEqual([true, true, 500]);
    await limiter.refund(retried);
    expect((await limiter.peek("user")).remaining).toBe(2000);
    expect((await limiter.consume("user", { cost: 1500, id: "t1" })).remaining).toBe(500);
  });
});

describe("on Redis", () => {
  it("every accepted hit sets the expiry, and the key is gone a window later", async () => {
    for (const encoding of ["sorted-set", "list"] as const) {
      const { store, keyOf } = openRedis();
      const limit = slidingLog({ limit: 2, window: 300, encoding });
      await ask(store, "decide", limit);
      expect(await client.pttl(keyOf(limit))).toBeGreaterThan(200);
      await new Promise((resolve) => setTimeout(resolve, 150));
      await ask(store, "decide", limit);
      const left = await client.pttl(keyOf(limit));
      expect(left).toBeGreaterThan(200);
      expect(left).toBeLessThanOrEqual(301);
      await ask(store, "decide", limit);
      expect(await client.pttl(keyOf(limit))).toBeLessThanOrEqual(left);
      await new Promise((resolve) => setTimeout(resolve, 320));
      expect(await client.exists(keyOf(limit))).toBe(0);
    }
  });

  it("hits of one millisecond do not overwrite each other", async () => {
    const clock = virtualClock(start);
    const { store, keyOf } = openRedis(clock);
    const limit = slidingLog({ limit: 20, window: "1m" });
    await Promise.all(Array.from({ length: 1000 }, () => ask(store, "decide", limit)));
    expect(await client.zcard(keyOf(limit))).toBe(20);
  });

  it("a list is never longer than the limit, also after it was lowered", async () => {
    const clock = virtualClock(start);
    const { store, keyOf } = openRedis(clock);
    const list = (limit: number) => slidingLog({ limit, window: "1m", encoding: "list" });
    for (let i = 0; i < 100; i++) {
      clock.advance("15s");
      expect((await ask(store, "decide", list(5))).allowed).toBe(true);
      expect(await client.llen(keyOf(list(5)))).toBeLessThanOrEqual(5);
    }
    for (let i = 0; i < 10; i++) await ask(store, "decide", list(10));
    expect(await client.llen(keyOf(list(10)))).toBe(10);
    clock.advance("1m");
    await ask(store, "decide", list(2));
    expect(await client.llen(keyOf(list(2)))).toBe(1);
  });

  it("what is over is dropped, ids too", async () => {
    const clock = virtualClock(start);
    const { store, keyOf } = openRedis(clock);
    const limit = slidingLog({ limit: 5, window: "1m" });
    for (let i = 0; i < 100; i++) {
      clock.advance("15s");
      await ask(store, "decide", limit, { id: `id-${i}` });
    }
    expect(await client.zcard(keyOf(limit))).toBe(8);
    for (let i = 0; i < 10; i++) {
      clock.advance("15s");
      await ask(store, "decide", limit);
    }
    expect(await client.zcard(keyOf(limit))).toBe(4);
  });

  it("a key of another type, or not ours, is begun afresh and counted", async () => {
    const clock = virtualClock(start);
    for (const encoding of ["sorted-set", "list"] as const) {
      const { store, keyOf } = openRedis(clock);
      const limit = slidingLog({ limit: 2, window: "1m", encoding });
      const key = keyOf(limit);
      const spoils = [
        () => client.set(key, "x"),
        () => client.hset(key, "a", 1),
        () => (encoding === "list" ? client.rpush(key, "x", "y") : client.zadd(key, start, "x")),
        () => (encoding === "list" ? client.rpush(key, "9e15") : client.zadd(key, 9e15, "x".repeat(22))),
      ];
      for (const [i, spoil] of spoils.entries()) {
        await client.del(key);
        await spoil();
        expect((await ask(store, "peek", limit)).remaining).toBe(2);
        await store.refund([{ rule: "r", key: "k", limit }]);
        expect((await ask(store, "decide", limit)).remaining).toBe(1);
        expect((await ask(store, "decide", limit)).remaining).toBe(0);
        expect(store.resets).toBe(i + 1);
      }
    }
  });

  it("peek writes nothing, not even what is over", async () => {
    const clock = virtualClock(start);
    for (const encoding of ["sorted-set", "list"] as const) {
      const { store, keyOf } = openRedis(clock);
      const limit = slidingLog({ limit: 2, window: "1m", encoding });
      await ask(store, "decide", limit);
      clock.advance("1h");
      const before = await client.dumpBuffer(keyOf(limit));
      expect((await ask(store, "peek", limit)).remaining).toBe(2);
      expect(await client.dumpBuffer(keyOf(limit))).toEqual(before);
    }
  });

  it("the server's own clock decides", async () => {
    const { store } = openRedis();
    const limit = slidingLog({ limit: 2, window: 200 });
    expect((await ask(store, "decide", limit)).allowed).toBe(true);
    expect((await ask(store, "decide", limit)).allowed).toBe(true);
    const refused = await ask(store, "decide", limit);
    expect(refused.allowed).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, refused.retryAfterMs + 5));
    expect((await ask(store, "decide", limit)).allowed).toBe(true);
  });
});

describe("in the process", () => {
  it("a log of 100,000 entries takes 8 to 16 bytes each, and shrinks again", () => {
    const log = new Log();
    const args = [1e6, 1000];
    const facts = new Float64Array(4);
    const before = arrayBuffers();
    for (let i = 0; i < 100_000; i++) log.charge(args, i / 1000, 1, undefined);
    expect(arrayBuffers() - before).toBeLessThan(100_000 * 16.1 + 2_200_000);
    log.look(args, facts, 100, 1, undefined);
    expect(facts[0]).toBe(100_000);
    for (let i = 0; i < 20; i++) log.charge(args, 1090 + i, 1, undefined);
    log.look(args, facts, 1110, 1, undefined);
    expect(facts[0]).toBe(20);
  });

  function arrayBuffers(): number {
    return process.memoryUsage().arrayBuffers;
  }
});

describe("slidingLog({ … })", () => {
  it.each([
    [{ limit: -1, window: "1m" }, "slidingLog.limit"],
    [{ limit: 1.5, window: "1m", encoding: "list" }, "slidingLog.limit"],
    [{ limit: Number.NaN, window: "1m" }, "slidingLog.limit"],
    [{ limit: 1, window: "1y" }, "slidingLog.window"],
    [{ limit: 1, window: 0 }, "slidingLog.window"],
    [{ limit: 1, window: "1m", encoding: "hash" }, "slidingLog.encoding"],
    [{ limit: 1, windows: "1m" }, "slidingLog.windows"],
    [undefined, "slidingLog"],
  ])("refuses %o by name", (options, path) => {
    expect(() => slidingLog(options as never)).toThrow(expect.objectContaining({ path }));
  });

  it("its place is its encoding and window, never its number", () => {
    expect(slidingLog({ limit: 5, window: "1m" }).id).toBe("sl:60000");
    expect(slidingLog({ limit: 50, window: "1m", encoding: "list" }).id).toBe("ll:60000");
  });

  it("says what a log above 10,000 entries costs, once for the same numbers", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    try {
      slidingLog({ limit: 10_000, window: "1d" });
      expect(warn).not.toHaveBeenCalled();
      slidingLog({ limit: 10_001, window: "1d" });
      slidingLog({ limit: 10_001, window: "1d" });
      expect(warn).toHaveBeenCalledTimes(1);
      expect(warn.mock.calls[0]?.[0]).toMatch(/slidingLog\.limit: .* MB .*\[TG_LOG_LARGE\]/);
    } finally {
      warn.mockRestore();
    }
    const told = vi.fn();
    slidingLog({ limit: 20_000, window: "1d", onWarning: told });
    expect(told).toHaveBeenCalledOnce();
  });
});
