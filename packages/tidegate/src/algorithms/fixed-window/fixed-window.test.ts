import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { exceeds } from "../../limit.js";
import { assembleLimiter } from "../../limiter.js";
import { memoryStore } from "../../stores/memory/memory-store.js";
import { redisStore } from "../../stores/redis/redis-store.js";
import { mostWithin, trial } from "../../testing/trial.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { fixedWindow } from "./fixed-window.js";

/** 2017-04-28 15:30:00Z, a multiple of 30 minutes. */
const start = 1_493_393_400_000;

const calls = (mostCost: number, longestGap: number) =>
  fc.array(
    fc.record({
      gap: fc.oneof(fc.constant(0), fc.nat(longestGap)),
      cost: fc.integer({ min: 1, max: mostCost }),
    }),
    { minLength: 1, maxLength: 80, size: "max" },
  );

describe("fixedWindow", () => {
  test("exceeds the limit at one more than it: request 300 passes, 301 does not", () => {
    const limit = trial(fixedWindow({ limit: 300, window: "5m" }));
    const allowed = Array.from({ length: 302 }, () => limit.consume(start + 63_000).allowed);
    expect(allowed.indexOf(false)).toBe(300);
    expect(allowed[301]).toBe(false);
  });

  test("access returns with the window: refused in second 59, let in at 60", () => {
    const limit = trial(fixedWindow({ limit: 1, window: "1m" }));
    limit.consume(start);
    expect(limit.consume(start + 59_000)).toMatchObject({ allowed: false, retryAfterMs: 1000 });
    expect(limit.consume(start + 60_000).allowed).toBe(true);
  });

  test("a refused request never reaches what it asked for", async () => {
    const limiter = assembleLimiter(
      { name: "api", limit: fixedWindow({ limit: 3, window: "1m" }) },
      { openStore: () => memoryStore({ clock: () => start }) },
    );
    let reached = 0;
    const serve = async () => {
      if ((await limiter.consume("1.2.3.4")).allowed) reached++;
    };
    for (let i = 0; i < 10; i++) await serve();
    expect(reached).toBe(3);
  });

  test("levels hold together: 600 in 30 minutes bites where 300 in 5 would not, and is named", async () => {
    const clock = virtualClock(start);
    const limiter = assembleLimiter(
      { name: "req/ip", limits: ["300 per 5m", "600 per 30m"] },
      { openStore: () => memoryStore({ clock }) },
    );
    for (const minutes of [0, 5]) {
      for (let i = 0; i < 300; i++) {
        clock.set(start + minutes * 60_000 + i * 800);
        expect((await limiter.consume("220.53.5.168")).allowed).toBe(true);
      }
    }
    clock.set(start + 10 * 60_000);
    expect(await limiter.consume("220.53.5.168")).toMatchObject({
      allowed: false,
      name: "req/ip/1800",
      retryAfterMs: 20 * 60_000,
    });
    clock.set(start + 30 * 60_000);
    expect((await limiter.consume("220.53.5.168")).allowed).toBe(true);
  });

  test("counts as a list of all calls does, in both alignments", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("epoch" as const, "first-hit" as const),
        fc.boolean(),
        fc.integer({ min: 1, max: 1000 }),
        fc.nat(1500),
        fc.nat(10),
        calls(4, 700),
        (align, countRefused, windowMs, offset, limit, hits) => {
          const options = { limit, window: windowMs, align, countRefused };
          const counter = trial(
            fixedWindow(align === "epoch" && offset > 0 ? { ...options, offset } : options),
          );
          let counted: { window: number; cost: number }[] = [];
          let now = start;
          let opened = Number.NEGATIVE_INFINITY;
          for (const { gap, cost } of hits) {
            now += gap;
            if (align === "epoch") opened = Math.floor((now - offset) / windowMs) * windowMs + offset;
            else if (now >= opened + windowMs) {
              opened = now;
              counted = [];
            }
            const sum = counted.reduce((total, hit) => (hit.window === opened ? total + hit.cost : total), 0);
            const passes = !exceeds(sum + cost, limit);
            const verdict = counter.consume(now, cost);
            expect(verdict.allowed).toBe(passes);
            const after = passes || countRefused ? sum + cost : sum;
            expect(verdict.remaining).toBe(Math.max(0, limit - after));
            if (passes || countRefused) counted.push({ window: opened, cost });
            // Nothing counted opens no window from the first hit.
            else if (align === "first-hit" && sum === 0) opened = Number.NEGATIVE_INFINITY;
            expect(verdict.resetAfterMs).toBe(after > 0 ? opened + windowMs - now : 0);
          }
        },
      ),
    );
  });

  test("a refused call passes exactly when it was told", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("epoch" as const, "first-hit" as const),
        fc.constantFrom(1, 1000, 60_000, 400 * 86_400_000),
        calls(3, 20_000),
        (align, windowMs, hits) => {
          const limit = trial(fixedWindow({ limit: 3, window: windowMs, align }));
          let now = start;
          for (const { gap, cost } of hits) {
            now += gap / 8;
            const { allowed, retryAfterMs } = limit.consume(now, cost);
            if (allowed) continue;
            expect(Number.isInteger(retryAfterMs)).toBe(true);
            expect(limit.peek(now + retryAfterMs, cost).allowed).toBe(true);
            if (retryAfterMs > 1) expect(limit.peek(now + retryAfterMs - 1, cost).allowed).toBe(false);
          }
        },
      ),
    );
  });

  test.each([
    ["epoch", (limit: number) => 2 * limit],
    ["first-hit", (limit: number) => 2 * limit - 1],
  ] as const)("aligned to %s never lets more through in a window's length than it says", (align, most) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        calls(1, 300),
        (limit, countRefused, hits) => {
          const counter = trial(fixedWindow({ limit, window: 1000, align, countRefused }));
          const passed: { at: number; cost: number }[] = [];
          let at = start;
          for (const { gap, cost } of hits) {
            at += gap;
            if (counter.consume(at, cost).allowed) passed.push({ at, cost });
          }
          expect(mostWithin(1000, passed)).toBeLessThanOrEqual(most(limit));
        },
      ),
    );
  });

  test("the worst cases happen, each within two milliseconds", () => {
    const through = (align: "epoch" | "first-hit", times: number[]) => {
      const limit = trial(fixedWindow({ limit: 5, window: "1m", align }));
      return times.filter((at) => limit.consume(start + at).allowed).filter((at) => at >= 59_999).length;
    };
    const crowd = [...Array(20).fill(59_999), ...Array(20).fill(60_000)];
    expect(through("epoch", crowd)).toBe(10);
    expect(through("first-hit", [0, ...crowd])).toBe(9);
  });

  test("a refused call costs nothing, unless refusals count", () => {
    const free = trial(fixedWindow({ limit: 2, window: "1m" }));
    free.consume(start);
    for (let i = 0; i < 10; i++) expect(free.consume(start, 2).allowed).toBe(false);
    expect(free.consume(start).allowed).toBe(true);
    const strict = trial(fixedWindow({ limit: 2, window: "1m", countRefused: true }));
    strict.consume(start);
    strict.consume(start, 2);
    expect(strict.consume(start).allowed).toBe(false);
  });

  test.each<[options: unknown, path: string, value: string]>([
    [undefined, "fixedWindow", "undefined"],
    [{ window: "1m" }, "fixedWindow.limit", "undefined"],
    [{ limit: -1, window: "1m" }, "fixedWindow.limit", "-1"],
    [{ limit: Number.NaN, window: "1m" }, "fixedWindow.limit", "NaN"],
    [{ limit: Number.POSITIVE_INFINITY, window: "1m" }, "fixedWindow.limit", "Infinity"],
    [{ limit: 2 ** 53, window: "1m" }, "fixedWindow.limit", "9007199254740992"],
    [{ limit: "5", window: "1m" }, "fixedWindow.limit", '"5"'],
    [{ limit: 5 }, "fixedWindow.window", "undefined"],
    [{ limit: 5, window: 0 }, "fixedWindow.window", "0"],
    [{ limit: 5, window: -1000 }, "fixedWindow.window", "-1000"],
    [{ limit: 5, window: 0.5 }, "fixedWindow.window", "0.5"],
    [{ limit: 5, window: Number.POSITIVE_INFINITY }, "fixedWindow.window", "Infinity"],
    [{ limit: 5, window: "1 minute" }, "fixedWindow.window", '"1 minute"'],
    [{ limit: 5, window: "600w" }, "fixedWindow.window", '"600w"'],
    [{ limit: 5, window: "1m", align: "calendar" }, "fixedWindow.align", '"calendar"'],
    [{ limit: 5, window: "1d", offset: "-8h" }, "fixedWindow.offset", '"-8h"'],
    [{ limit: 5, window: "1d", offset: "8h", align: "first-hit" }, "fixedWindow.offset", "no boundary"],
    [{ limit: 5, window: "1m", max: 5 }, "fixedWindow.max", "no such option"],
  ])("refuses %j and says where and why", (options, path, value) => {
    expect(() => fixedWindow(options as never)).toThrow(
      expect.objectContaining({ name: "ConfigError", path, message: expect.stringContaining(value) }),
    );
  });
});

describe("fixedWindow in Redis", () => {
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(inject("redisPort"));
  });
  afterAll(() => redis.disconnect());

  function open() {
    const prefix = `t:${crypto.randomUUID()}`;
    return { store: redisStore({ client: redis, prefix }), keyOf: (key: string) => `${prefix}:{${key}}:r` };
  }

  test("five of seven calls on products pass, all seven are counted, and the minute runs from the first", async () => {
    const { store, keyOf } = open();
    const limit = fixedWindow({ limit: 5, window: "1m", align: "first-hit", countRefused: true });
    const check = { rule: "r", key: "products", limit };
    const allowed: boolean[] = [];
    const expiries: number[] = [];
    for (let i = 0; i < 7; i++) {
      allowed.push((await store.decide([check]))[0]?.allowed === true);
      expiries.push(await redis.pttl(keyOf("products")));
    }
    expect(allowed).toEqual([true, true, true, true, true, false, false]);
    expect(expiries[0]).toBeGreaterThan(59_000);
    expect(expiries[0]).toBeLessThanOrEqual(60_001);
    // Set by the first call, moved by none.
    for (let i = 1; i < 7; i++) expect(expiries[i]).toBeLessThanOrEqual(expiries[i - 1] as number);
    // Two of seven given back leave five: the sixth would still be refused.
    await store.refund([{ ...check, cost: 2 }]);
    expect((await store.peek([check]))[0]?.allowed).toBe(false);
    await store.refund([check]);
    expect((await store.peek([check]))[0]?.allowed).toBe(true);
  });

  test.each(["epoch", "first-hit"] as const)(
    "aligned to %s, no key outlives its window by a second",
    async (align) => {
      const { store, keyOf } = open();
      await store.decide([{ rule: "r", key: "k", limit: fixedWindow({ limit: 5, window: "5m", align }) }]);
      const ttl = await redis.pttl(keyOf("k"));
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(301_000);
    },
  );

  test("an idle key is gone with its window", async () => {
    const { store, keyOf } = open();
    const limit = fixedWindow({ limit: 5, window: 400, align: "first-hit" });
    await store.decide([{ rule: "r", key: "k", limit }]);
    expect(await redis.exists(keyOf("k"))).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 450));
    expect(await redis.exists(keyOf("k"))).toBe(0);
  });

  test("a refund of what is gone leaves nothing behind, and lets nobody exceed the limit", async () => {
    const { store, keyOf } = open();
    const check = { rule: "r", key: "k", limit: fixedWindow({ limit: 2, window: "1h", align: "first-hit" }) };
    await store.refund([{ ...check, cost: 10 }]);
    expect(await redis.exists(keyOf("k"))).toBe(0);
    const allowed = [];
    for (let i = 0; i < 4; i++) allowed.push((await store.decide([check]))[0]?.allowed);
    expect(allowed).toEqual([true, true, false, false]);
  });

  test("of 200 calls at once exactly five pass", async () => {
    const { store } = open();
    const limit = fixedWindow({ limit: 5, window: "1h", align: "first-hit" });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => store.decide([{ rule: "r", key: "products", limit }])),
    );
    expect(answers.filter(([verdict]) => verdict?.allowed)).toHaveLength(5);
  });

  test("of 200 calls at once from ten connections exactly five pass", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const clients = Array.from({ length: 10 }, () => new Redis(inject("redisPort")));
    const limit = fixedWindow({ limit: 5, window: "1h", align: "first-hit" });
    const answers = await Promise.all(
      clients.flatMap((client) => {
        const store = redisStore({ client, prefix });
        return Array.from({ length: 20 }, () => store.decide([{ rule: "r", key: "products", limit }]));
      }),
    );
    for (const client of clients) client.disconnect();
    expect(answers.filter(([verdict]) => verdict?.allowed)).toHaveLength(5);
  });
});
