import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { createLimiter, fixedWindow, type Limit, type Limiter, type Store, slidingLog } from "tidegate";
import { redisStore } from "tidegate/redis";
import { type VirtualClock, virtualClock } from "tidegate/testing";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { everyPlace } from "../holes/places.js";
import { startRedis } from "../servers/index.js";
import { watchScripts } from "../servers/watch-scripts.js";
import { printedFixedWindow, printedList, printedSortedSet } from "./printed-scripts.js";

/** 2018-06-27 00:00:00Z, when the article was written. */
const start = Date.UTC(2018, 5, 27);
const minute = 60_000;
const day = 86_400_000;

const places = everyPlace();
let redis: Redis;
beforeAll(() => {
  redis = new Redis(inject("redisPort"));
});
afterAll(async () => {
  redis.disconnect();
  vi.restoreAllMocks();
  await Promise.all(places.map((place) => place.close()));
});

const logs = (limit: number, window: number): [encoding: string, Limit][] => [
  ["sorted set", slidingLog({ limit, window })],
  ["list", slidingLog({ limit, window, encoding: "list" })],
];

/** With time enough for the store: these tests are about what it answers, not how fast on a busy machine. */
function limiterOn(store: Store, limit: Limit): Limiter {
  return createLimiter({ name: "seed", limit, store, deadlineMs: 15_000 });
}

/** Whether each of so many calls passed. */
async function ask(limiter: Limiter, key: string, times: number, cost = 1): Promise<boolean[]> {
  const passed: boolean[] = [];
  for (let i = 0; i < times; i++) passed.push((await limiter.consume(key, { cost })).allowed);
  return passed;
}

const yes = (count: number) => Array.from({ length: count }, () => true);
const no = (count: number) => Array.from({ length: count }, () => false);

describe.each(places.map((place) => [place.name, place] as const))("in %s", (_, place) => {
  function open(limit: Limit): { limiter: Limiter; clock: VirtualClock } {
    const clock = virtualClock(start);
    return { limiter: limiterOn(place.open(clock), limit), clock };
  }

  it("B2: an API key's thousand a day is a thousand, and is back at the day's declared boundary", async () => {
    const { limiter, clock } = open(fixedWindow({ limit: 1000, window: "1d", offset: "8h" }));
    clock.advance("7h");
    expect(await ask(limiter, "key", 2, 500)).toEqual(yes(2));
    const refused = await limiter.consume("key");
    expect(refused).toMatchObject({ allowed: false, retryAfterMs: 3_600_000 });
    clock.advance("1h");
    expect(await limiter.consume("key")).toMatchObject({ allowed: true, remaining: 999 });
  });

  it("B4: it is asked as a library, with a rule, a subject and an amount", async () => {
    const { limiter } = open(fixedWindow({ limit: 2000, window: "1d" }));
    expect(await limiter.consume("user:42", { cost: 1500 })).toMatchObject({
      rule: "seed",
      key: "user:42",
      cost: 1500,
      remaining: 500,
    });
  });

  it("B5: of seven calls on products within a minute five pass and two exceed the limit", async () => {
    const { limiter } = open(fixedWindow({ limit: 5, window: "60s", align: "first-hit" }));
    expect(await ask(limiter, "products", 7)).toEqual([...yes(5), ...no(2)]);
  });

  it("B6: the window begins with the first hit and rejected hits are counted if wished", async () => {
    const window = { window: "60s", align: "first-hit", countRefused: true } as const;
    const clock = virtualClock(start + 12_345);
    const store = place.open(clock);
    const limiter = limiterOn(store, fixedWindow({ limit: 5, ...window }));
    expect((await limiter.consume("products")).resetAfterMs).toBe(minute);
    await ask(limiter, "products", 6);
    // The same count, read by a limit it does not reach.
    const reader = limiterOn(store, fixedWindow({ limit: 100, ...window }));
    expect((await reader.peek("products")).remaining).toBe(93);
    clock.advance(minute);
    expect((await limiter.consume("products")).allowed).toBe(true);
  });

  it("B9: of 200 calls at once exactly five pass", async () => {
    const { limiter } = open(fixedWindow({ limit: 5, window: "60s" }));
    const answers = await Promise.all(Array.from({ length: 200 }, () => limiter.consume("products")));
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(5);
    expect(answers.every(({ source }) => source === "store")).toBe(true);
  });

  it("W7: aligned windows let 2N through around a boundary, windows from the first hit 2N - 1, and both are had by name", async () => {
    const aligned = open(fixedWindow({ limit: 5, window: minute, align: "epoch" }));
    aligned.clock.advance(59_999);
    const passed = await ask(aligned.limiter, "k", 6);
    aligned.clock.advance(1);
    expect([...passed, ...(await ask(aligned.limiter, "k", 6))]).toEqual([
      ...yes(5),
      false,
      ...yes(5),
      false,
    ]);

    const fromFirst = open(fixedWindow({ limit: 5, window: minute, align: "first-hit" }));
    expect(await ask(fromFirst.limiter, "k", 1)).toEqual(yes(1));
    fromFirst.clock.advance(59_999);
    const late = await ask(fromFirst.limiter, "k", 5);
    fromFirst.clock.advance(1);
    expect([...late, ...(await ask(fromFirst.limiter, "k", 6))]).toEqual([
      ...yes(4),
      false,
      ...yes(5),
      false,
    ]);
  });

  it("W13: users do not share a limit, and each answer says what remains, when it resets and when to retry", async () => {
    const { limiter, clock } = open(fixedWindow({ limit: 5, window: minute }));
    clock.advance(15_000);
    await ask(limiter, "ann", 5);
    expect(await limiter.consume("ann")).toMatchObject({
      allowed: false,
      remaining: 0,
      resetAfterMs: 45_000,
      retryAfterMs: 45_000,
    });
    expect(await limiter.consume("bob")).toMatchObject({ allowed: true, remaining: 4 });
  });

  if (!place.ledgers) return;

  it("B1: a user's ten messages a day pass, the eleventh does not, and others are not affected", async () => {
    const { limiter, clock } = open(slidingLog({ limit: 10, window: "1d" }));
    expect(await ask(limiter, "ann", 11)).toEqual([...yes(10), false]);
    expect(await ask(limiter, "bob", 1)).toEqual([true]);
    clock.advance("1d");
    expect(await ask(limiter, "ann", 1)).toEqual([true]);
  });

  it("B2: the same quota over a rolling day comes back a day after it was used", async () => {
    const { limiter, clock } = open(slidingLog({ limit: 1000, window: "1d" }));
    clock.advance("7h");
    expect(await ask(limiter, "key", 1, 1000)).toEqual([true]);
    clock.advance("1h");
    expect(await limiter.consume("key")).toMatchObject({ allowed: false, retryAfterMs: day - 3_600_000 });
  });

  it("B3: of 2,000 dollars a day 1,500 pass, 600 do not and cost nothing, 500 do, one cent does not; a day later 1,500 are back", async () => {
    const { limiter, clock } = open(slidingLog({ limit: 2000, window: "1d" }));
    const transfer = async (cost: number) => (await limiter.consume("user", { cost })).allowed;
    expect(await transfer(1500)).toBe(true);
    clock.advance("1h");
    expect(await transfer(600)).toBe(false);
    expect(await transfer(500)).toBe(true);
    expect(await transfer(0.01)).toBe(false);
    clock.advance("23h");
    expect((await limiter.peek("user")).remaining).toBe(1500);
    expect(await transfer(1500)).toBe(true);
  });

  it.each(logs(5, minute))(
    "B10: of five at :59 and five at :01 exactly five pass a rolling %s",
    async (_, limit) => {
      const { limiter, clock } = open(limit);
      clock.advance(59_000);
      const passed = await ask(limiter, "products", 5);
      clock.advance(2000);
      expect([...passed, ...(await ask(limiter, "products", 5))]).toEqual([...yes(5), ...no(5)]);
    },
  );

  it.each(logs(5, minute))(
    "B11: in a %s five pass, the sixth is refused at +30 s and passes at +60.001 s",
    async (_, limit) => {
      const { limiter, clock } = open(limit);
      expect(await ask(limiter, "products", 5)).toEqual(yes(5));
      clock.advance(30_000);
      expect(await limiter.consume("products")).toMatchObject({ allowed: false, retryAfterMs: 30_000 });
      clock.advance(30_001);
      expect((await limiter.consume("products")).allowed).toBe(true);
    },
  );

  it.each(logs(5, minute))(
    "B13: at exactly +60,000 ms a %s lets it pass: the window is (t - 60,000, t]",
    async (_, limit) => {
      const { limiter, clock } = open(limit);
      await ask(limiter, "products", 5);
      clock.advance(59_999);
      expect((await limiter.consume("products")).allowed).toBe(false);
      clock.advance(1);
      expect((await limiter.consume("products")).allowed).toBe(true);
    },
  );

  it.each(logs(5, minute))(
    "B14: hammering a full %s extends nothing: the slot is free 60 s after the first accepted hit",
    async (_, limit) => {
      const { limiter, clock } = open(limit);
      await ask(limiter, "products", 5);
      for (let second = 1; second <= 59; second++) {
        clock.advance("1s");
        const answers = await Promise.all(Array.from({ length: 100 }, () => limiter.consume("products")));
        expect(answers.some(({ allowed }) => allowed)).toBe(false);
      }
      clock.advance("1s");
      expect((await limiter.consume("products")).allowed).toBe(true);
    },
  );

  it.each(logs(5, minute))(
    "B16: of a thousand hits in one millisecond exactly five pass a %s",
    async (_, limit) => {
      const { limiter } = open(limit);
      const answers = await Promise.all(Array.from({ length: 1000 }, () => limiter.consume("products")));
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(5);
    },
  );

  it.each(logs(10, minute))(
    "W12: a %s whose limit is lowered holds the lower limit at once",
    async (encoding, limit) => {
      const clock = virtualClock(start);
      const store = place.open(clock);
      const generous = limiterOn(store, limit);
      for (let i = 0; i < 10; i++, clock.advance(1000)) await generous.consume("products");
      const [, lowered] = logs(5, minute).find(([name]) => name === encoding) as [string, Limit];
      const strict = limiterOn(store, lowered);
      // The fifth newest came at +5 s: at +65 s four are left, and one more passes.
      expect(await strict.consume("products")).toMatchObject({ allowed: false, retryAfterMs: 55_000 });
      clock.set(start + 64_999);
      expect((await strict.consume("products")).allowed).toBe(false);
      clock.set(start + 65_000);
      expect(await ask(strict, "products", 2)).toEqual([true, false]);
    },
  );

  it("W14: cents are exact, a transfer is all or nothing, a retry of one id is charged once, and can be given back", async () => {
    const { limiter } = open(slidingLog({ limit: 200_000, window: "1d", onWarning: () => {} }));
    for (let i = 0; i < 10; i++) await limiter.consume("user", { cost: 10 });
    expect((await limiter.peek("user")).remaining).toBe(199_900);
    const first = await limiter.consume("user", { cost: 150_000, id: "transfer 7" });
    const retried = await limiter.consume("user", { cost: 150_000, id: "transfer 7" });
    expect([first, retried].map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 49_900],
      [true, 49_900],
    ]);
    expect(await limiter.consume("user", { cost: 60_000, id: "transfer 8" })).toMatchObject({
      allowed: false,
      remaining: 49_900,
    });
    await limiter.refund(first);
    expect((await limiter.peek("user")).remaining).toBe(199_900);
  });
});

describe("on Redis, beside the printed scripts", () => {
  const prefix = () => `t:${randomUUID()}`;

  it("B7: the printed words are one boolean here: pass when allowed, exceeded limit when not", async () => {
    const limit = fixedWindow({ limit: 5, window: "60s", align: "first-hit", countRefused: true });
    const limiter = limiterOn(redisStore({ client: redis, prefix: prefix() }), limit);
    const key = prefix();
    for (let i = 0; i < 7; i++) {
      const word = await redis.eval(printedFixedWindow, 1, key);
      expect((await limiter.consume("products")).allowed ? "pass" : "exceeded limit").toBe(word);
    }
  });

  it("B8, B18: a decision is one script whose every key is declared; nothing is read and then written from outside", async () => {
    const own = prefix();
    const store = redisStore({ client: redis, prefix: own, clock: virtualClock(start) });
    const checks = [
      fixedWindow({ limit: 5, window: minute }),
      ...logs(5, minute).map(([, limit]) => limit),
    ].map((limit) => ({ rule: "seed", key: "products", limit }));
    await store.decide(checks);
    const { outside, inside } = await watchScripts(inject("redisPort"), own, async () => {
      for (let i = 0; i < 7; i++) await store.decide(checks);
    });
    expect(outside.map(([command]) => command)).toEqual(Array.from({ length: 7 }, () => "evalsha"));
    const [, , count, ...args] = outside[0] as string[];
    const declared = args.slice(0, Number(count));
    expect(declared).toHaveLength(3);
    const touched = inside.flatMap((command) => command.filter((word) => word.startsWith(own)));
    expect(new Set(touched)).toEqual(new Set(declared));
  });

  it("B12: a list is kept newest first and never longer than the limit", async () => {
    const [own, clock] = [prefix(), virtualClock(start)];
    const store = redisStore({ client: redis, prefix: own, clock });
    const [, [, limit]] = logs(5, minute) as [unknown, [string, Limit]];
    for (let i = 0; i < 100; i++, clock.advance(12_000))
      expect((await store.decide([{ rule: "seed", key: "k", limit }]))[0]?.allowed).toBe(true);
    const key = `${own}:{k}:seed:${limit.id}`;
    expect(await redis.type(key)).toBe("list");
    expect(await redis.llen(key)).toBe(5);
  });

  it("B13, W9: at exactly +60,000 ms the printed list refuses and the printed set passes; both of ours pass", async () => {
    const words: unknown[] = [];
    for (const script of [printedList, printedSortedSet]) {
      const key = prefix();
      for (let i = 0; i < 5; i++) await redis.eval(script, 1, key, start + i);
      words.push(await redis.eval(script, 1, key, start + minute));
      await redis.del(key);
    }
    expect(words).toEqual(["exceeded limit", "pass"]);
    for (const [, limit] of logs(5, minute)) {
      const clock = virtualClock(start);
      const limiter = limiterOn(redisStore({ client: redis, prefix: prefix(), clock }), limit);
      for (let i = 0; i < 5; i++, clock.advance(1)) await limiter.consume("k");
      clock.set(start + minute);
      expect((await limiter.consume("k")).allowed).toBe(true);
    }
  });

  it("B15, W11: callers whose clocks are an hour fast or slow change no decision, for the time is the server's", async () => {
    for (const [, limit] of logs(5, 3_600_000)) {
      const own = prefix();
      const skewed = async (skewMs: number) => {
        const real = Date.now;
        const now = vi.spyOn(Date, "now").mockImplementation(() => real.call(Date) + skewMs);
        const limiter = limiterOn(redisStore({ client: redis, prefix: own }), limit);
        const verdict = await limiter.consume("k");
        now.mockRestore();
        return verdict;
      };
      const verdicts = [];
      for (const hours of [1, -1, 0, 1, -1, 0]) verdicts.push(await skewed(hours * 3_600_000));
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([...yes(5), false]);
      const [seconds] = await redis.time();
      for (const { at } of verdicts) expect(Math.abs(at / 1000 - Number(seconds))).toBeLessThan(10);
    }
  });

  it("W8: a thousand hits with one timestamp all pass the printed set, which then holds one", async () => {
    const key = prefix();
    const words = await Promise.all(
      Array.from({ length: 1000 }, () => redis.eval(printedSortedSet, 1, key, start)),
    );
    expect(words.filter((word) => word === "pass")).toHaveLength(1000);
    expect(await redis.zcard(key)).toBe(1);
    await redis.del(key);
  });

  it("B17: a decision on a log of 10,000 entries runs no more commands inside Redis than on one of 10", async () => {
    const counts: number[] = [];
    for (const size of [10, 10_000]) {
      const [own, clock] = [prefix(), virtualClock(start)];
      const store = redisStore({ client: redis, prefix: own, clock });
      const check = {
        rule: "seed",
        key: "k",
        limit: slidingLog({ limit: size + 100, window: "1d", onWarning: () => {} }),
      };
      for (let i = 0; i < size; i += 100, clock.advance(10))
        await Promise.all(Array.from({ length: Math.min(size, 100) }, () => store.decide([check])));
      const { inside } = await watchScripts(inject("redisPort"), own, async () => {
        expect((await store.decide([check]))[0]).toMatchObject({ allowed: true, remaining: 99 });
      });
      counts.push(inside.length);
    }
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts[1]).toBeLessThanOrEqual(counts[0] as number);
  });

  it("W10: every key has an expiry from its first hit on, where the printed list and set have none", async () => {
    const printed = prefix();
    await redis.eval(printedList, 1, printed, start);
    expect(await redis.pttl(printed)).toBe(-1);
    await redis.del(printed);
    const own = prefix();
    const store = redisStore({ client: redis, prefix: own });
    const limits = [fixedWindow({ limit: 5, window: minute }), ...logs(5, minute).map(([, limit]) => limit)];
    await store.decide(limits.map((limit) => ({ rule: "seed", key: "k", limit })));
    const keys = [`${own}:{k}:seed`, ...limits.slice(1).map(({ id }) => `${own}:{k}:seed:${id}`)];
    for (const key of keys) {
      const ttl = await redis.pttl(key);
      expect(ttl, key).toBeGreaterThan(0);
      expect(ttl, key).toBeLessThanOrEqual(minute + 1000);
    }
  });

  it("W13: the script goes over the wire once, and again only when Redis has lost it", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const client = new Redis(server.port);
    onTestFinished(() => client.disconnect());
    const own = prefix();
    const store = redisStore({ client, prefix: own, clock: virtualClock(start) });
    const check = { rule: "seed", key: "k", limit: fixedWindow({ limit: 5, window: minute }) };
    await store.decide([check]);
    const { outside } = await watchScripts(server.port, own, async () => {
      for (let i = 0; i < 3; i++) await store.decide([check]);
    });
    expect(outside.map(([command]) => command)).toEqual(["evalsha", "evalsha", "evalsha"]);
    await client.script("FLUSH");
    expect((await store.decide([check]))[0]).toMatchObject({ allowed: true, remaining: 0 });
  });
});
