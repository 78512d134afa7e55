import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import {
  createLimiter,
  type EarrrlOptions,
  earrrl,
  fixedWindow,
  type Limiter,
  memoryStore,
  type Verdict,
} from "tidegate";
import { redisStore } from "tidegate/redis";
import { type VirtualClock, virtualClock } from "tidegate/testing";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { everyPlace, type Place } from "../holes/places.js";
import { watchScripts } from "../servers/watch-scripts.js";
import { printedEarrrl, printedTable } from "./printed-scripts.js";

const start = 1_700_000_000_000;
/** Of a half-life of 10 s, per second. */
const lambda = Math.LN2 / 10;
const printed: EarrrlOptions = { rate: 0.5, halfLife: "10s" };

const places = everyPlace();
const memory = places[0] as Place;
let redis: Redis;
beforeAll(() => {
  redis = new Redis(inject("redisPort"));
});
afterAll(async () => {
  redis.disconnect();
  vi.restoreAllMocks();
  await Promise.all(places.map((place) => place.close()));
});

const prefix = () => `t:${randomUUID()}`;

interface Client {
  readonly limiter: Limiter;
  readonly clock: VirtualClock;
  /** One call each so many milliseconds. */
  send(calls: number, everyMs: number): Promise<Verdict[]>;
}

function clientAt(place: Place, options: EarrrlOptions): Client {
  const clock = virtualClock(start);
  // Time enough: these tests are about what a store answers, not how fast on a busy machine.
  const limiter = createLimiter({
    name: "seed",
    limit: earrrl(options),
    store: place.open(clock),
    deadlineMs: 15_000,
  });
  return {
    limiter,
    clock,
    async send(calls, everyMs) {
      const verdicts: Verdict[] = [];
      for (let i = 0; i < calls; i++, clock.advance(everyMs)) verdicts.push(await limiter.consume("user"));
      return verdicts;
    },
  };
}

const passes = (verdicts: readonly Verdict[]) =>
  verdicts.map(({ allowed }) => (allowed ? "+" : "-")).join("");

describe.each(places.map((place) => [place.name, place] as const))("in %s", (_, place) => {
  it("E1: a client that hammers gets nothing while it hammers, whichever window begins", async () => {
    const { send } = clientAt(place, printed);
    const verdicts = await send(1200, 100);
    expect(passes(verdicts)).toMatch(/^\+{8}-+$/);
  });

  it("E4: once silent for half-life · log2(estimate / limit) it is forgiven, and no millisecond sooner", async () => {
    const { limiter, clock, send } = clientAt(place, printed);
    await send(60, 1000);
    const now = clock();
    const estimate = (await limiter.peek("user")).estimate as number;
    const silenceMs = 10_000 * Math.log2(estimate / 0.5);
    clock.set(now + Math.floor(silenceMs));
    expect((await limiter.peek("user")).allowed).toBe(false);
    clock.set(now + Math.ceil(silenceMs));
    expect((await limiter.consume("user")).allowed).toBe(true);
  });

  it("E6: it decides on the estimate before counting, and counts refused hits too", async () => {
    const { limiter } = clientAt(place, printed);
    for (let hit = 0; hit < 20; hit++) {
      const { estimate, allowed } = await limiter.consume("user");
      expect(estimate).toBeCloseTo(hit * lambda, 12);
      expect(allowed).toBe(hit * lambda <= 0.5);
    }
  });

  it("E7: two hits of weight 1 are one of weight 2 at the same instant", async () => {
    const { limiter, clock } = clientAt(place, printed);
    await limiter.consume("twice");
    await limiter.consume("twice");
    await limiter.consume("once", { cost: 2 });
    clock.advance(777);
    const [twice, once] = await Promise.all(["twice", "once"].map((key) => limiter.peek(key)));
    expect(once?.estimate).toBe(twice?.estimate);
  });

  it("E8: an estimate exactly at the limit is allowed, one above is not", async () => {
    const { limiter } = clientAt(place, { rate: 3 * lambda, halfLife: "10s" });
    for (let i = 0; i < 3; i++) await limiter.consume("user");
    expect(await limiter.consume("user")).toMatchObject({ allowed: true, remaining: 0 });
    expect((await limiter.consume("user")).allowed).toBe(false);
  });

  it("E9: peek tells the rate as often as asked, and counts nothing", async () => {
    const { limiter, clock } = clientAt(place, printed);
    await limiter.consume("user");
    clock.advance(1234);
    const seen = await limiter.peek("user");
    expect(seen.estimate).toBeCloseTo(lambda * Math.exp(-lambda * 1.234), 12);
    for (let i = 0; i < 5; i++) expect(await limiter.peek("user")).toEqual(seen);
  });

  it("E10: one user is limited, another is not", async () => {
    const { limiter, send } = clientAt(place, printed);
    expect((await send(20, 100)).at(-1)?.allowed).toBe(false);
    expect(await limiter.consume("other")).toMatchObject({ allowed: true, estimate: 0 });
  });

  it("E19: an unknown key has rate zero, and one hit after its first", async () => {
    const { limiter } = clientAt(place, printed);
    expect((await limiter.consume("user")).estimate).toBe(0);
    expect((await limiter.peek("user")).estimate).toBeCloseTo(lambda, 15);
  });

  it("E23: the printed table, request by request, to 1e-8; only #11 is limited", async () => {
    const { limiter, clock } = clientAt(place, printed);
    for (const [i, [micros, estimate]] of printedTable.entries()) {
      clock.set(start + micros / 1000);
      const verdict = await limiter.consume("user_key_321");
      expect(Math.abs((verdict.estimate as number) - estimate), `#${i}`).toBeLessThan(1e-8);
      expect(verdict.allowed, `#${i}`).toBe(i < 11);
    }
  });

  it("E24: at exactly one call a second it follows the closed form", async () => {
    const { send } = clientAt(place, printed);
    const q = Math.exp(-lambda);
    for (const [n, { estimate }] of (await send(72, 1000)).entries())
      expect(estimate).toBeCloseTo((lambda * q * (1 - q ** n)) / (1 - q), 12);
  });

  it("W20: a clock set back makes no ban of one hit: its time never runs backwards", async () => {
    const { limiter, clock } = clientAt(place, printed);
    await limiter.consume("user");
    clock.set(start - 100_000);
    // The printed script would read 69.7 here.
    const verdict = await limiter.consume("user");
    expect(verdict.allowed).toBe(true);
    expect(verdict.estimate).toBeCloseTo(lambda, 12);
  });

  it("W24: the wait is told, and is exact if the client stops", async () => {
    const { limiter, clock, send } = clientAt(place, printed);
    const last = (await send(20, 250)).at(-1) as Verdict;
    clock.set(last.at + last.retryAfterMs - 1);
    expect((await limiter.peek("user")).allowed).toBe(false);
    clock.set(last.at + last.retryAfterMs);
    expect((await limiter.peek("user")).allowed).toBe(true);
  });
});

describe("for hours, in memory", () => {
  it("E2: 0.4 calls a second under a limit of 0.5 are never refused in an hour", async () => {
    const verdicts = await clientAt(memory, printed).send(1440, 2500);
    expect(passes(verdicts)).toBe("+".repeat(1440));
  });

  it("E3: one call a second over a limit of 0.5 is refused for the whole hour after the grace", async () => {
    const verdicts = await clientAt(memory, printed).send(3600, 1000);
    expect(passes(verdicts)).toBe("+".repeat(11) + "-".repeat(3589));
  });

  it("E11: a rate is per second: 0.5 is one every two seconds, or 30 per minute; microseconds are kept", async () => {
    const bySecond = clientAt(memory, { rate: 0.5, halfLife: "10s" });
    const byMinute = clientAt(memory, { rate: "30 per minute", halfLife: "10s" });
    const [one, other] = await Promise.all([bySecond, byMinute].map(({ send }) => send(50, 1000.001)));
    expect(one).toEqual(other);
    expect(passes(await clientAt(memory, printed).send(500, 2000))).toBe("+".repeat(500));
    bySecond.clock.advance(0.25);
    expect((await bySecond.limiter.peek("user")).at).toBe(bySecond.clock());
  });

  it("E25: long at one call a second, it reads a little below 1 before a call and a little above after", async () => {
    const { limiter, clock, send } = clientAt(memory, printed);
    await send(200, 1000);
    const before = (await limiter.consume("user")).estimate as number;
    const after = (await limiter.peek("user")).estimate as number;
    expect(before).toBeCloseTo(lambda / Math.expm1(lambda), 5);
    expect(after).toBeCloseTo(lambda / (1 - Math.exp(-lambda)), 5);
    expect([before < 1, after > 1]).toEqual([true, true]);
    // The printed loop took 1.0135 s a turn, and its #70 read 0.945.
    const slower = clientAt(memory, printed);
    expect((await slower.send(71, 1013.5)).at(-1)?.estimate).toBeCloseTo(0.94514712058575, 3);
    expect(clock()).toBe(start + 200_000);
  });

  it("E26: a half-life after the last hit the estimate is half of what it was", async () => {
    const { limiter, clock, send } = clientAt(memory, printed);
    await send(72, 1013.5);
    clock.set(start + 71 * 1013.5);
    const after = (await limiter.peek("user")).estimate as number;
    clock.advance(10_000);
    expect((await limiter.peek("user")).estimate).toBeCloseTo(after / 2, 12);
    clock.advance(13.5);
    expect((await limiter.peek("user")).estimate).toBeCloseTo(0.50703163627721, 3);
  });

  it("E5: lambda is ln 2 / half-life: the printed literal for 10 s", () => {
    const [, perMs] = earrrl(printed).args as [number, number];
    expect(perMs * 1000).toBeCloseTo(0.06931471805599453, 17);
  });

  it("E15: from rest floor(rate / lambda) + 1 pass at once: the longer the half-life, the more", async () => {
    const bursts: number[] = [];
    for (const seconds of [1, 10, 60, 600]) {
      const { send, limiter } = clientAt(memory, { rate: 0.5, halfLife: seconds * 1000 });
      bursts.push((await send(500, 0)).filter(({ allowed }) => allowed).length);
      expect(bursts.at(-1)).toBe(Math.floor((0.5 * seconds) / Math.LN2) + 1);
      expect(bursts.at(-1)).toBe(limiter.limits[0]?.limit);
    }
    expect(bursts).toEqual([1, 8, 44, 433]);
  });

  it("E29: the silence asked of a steady offender grows by a half-life with each doubling of its rate", async () => {
    const silences: number[] = [];
    for (const rate of [2, 4, 8, 16]) {
      const last = (await clientAt(memory, printed).send(rate * 200, 1000 / rate)).at(-1) as Verdict;
      silences.push(last.retryAfterMs);
      expect(last.retryAfterMs).toBeCloseTo(
        10_000 * Math.log2(lambda / (1 - Math.exp(-lambda / rate)) / 0.5),
        -1,
      );
    }
    for (let i = 1; i < silences.length; i++)
      expect((silences[i] as number) - (silences[i - 1] as number)).toBeGreaterThan(9500);
  });

  it("E31: the less a refused hit weighs, the sooner a client that reforms is let in, and the more passes", async () => {
    const resumed: number[] = [];
    const passed: number[] = [];
    for (const overage of [1, 0.75, 0.5, 0.25]) {
      const { send } = clientAt(memory, { rate: 1, halfLife: "20s", overage });
      const verdicts = [...(await send(250, 600)), ...(await send(250, 1000))];
      resumed.push(verdicts.findLastIndex(({ allowed }) => !allowed) + 1);
      passed.push(verdicts.filter(({ allowed }) => allowed).length);
    }
    expect(resumed).toEqual([...resumed].sort((a, b) => b - a));
    expect(passed).toEqual([...passed].sort((a, b) => a - b));
    expect(new Set(passed).size).toBe(4);
  });

  it("E32: who sends more than lambda / ln(1 + overage · lambda / rate) is locked out for as long as he does, whatever the overage", async () => {
    for (const overage of [1, 0.5, 0.25]) {
      const threshold = lambda / Math.log1p((overage * lambda) / 0.5);
      const above = await clientAt(memory, { ...printed, overage }).send(4000, 1000 / (threshold * 1.02));
      expect(above.slice(1000).some(({ allowed }) => allowed)).toBe(false);
      const below = await clientAt(memory, { ...printed, overage }).send(4000, 1000 / (threshold * 0.98));
      expect(below.slice(1000).some(({ allowed }) => allowed)).toBe(true);
    }
  });

  it("E32: below that a share of (m - w) / (1 - w) passes, m = rate · (e^(lambda / r) - 1) / lambda", async () => {
    for (const [overage, perSecond] of [
      [0.5, 0.8],
      [0.25, 1],
      [0, 3],
    ] as const) {
      const verdicts = await clientAt(memory, { ...printed, overage }).send(6000, 1000 / perSecond);
      const share = verdicts.slice(1000).filter(({ allowed }) => allowed).length / 5000;
      const m = (0.5 * Math.expm1(lambda / perSecond)) / lambda;
      expect(Math.abs(share - (m - overage) / (1 - overage))).toBeLessThan(-Math.expm1(-lambda / perSecond));
    }
  });

  it("E33: with full weight a client a little over the steady threshold is out for good, one a little under is always in", async () => {
    const threshold = lambda / Math.log1p(lambda / 0.5);
    const over = passes(await clientAt(memory, printed).send(5000, 1000 / (threshold * 1.01)));
    expect(over).toMatch(/^\++-+$/);
    const under = passes(await clientAt(memory, printed).send(5000, 1000 / (threshold * 0.99)));
    expect(under).toBe("+".repeat(5000));
    // Half weight and the same client a little over: it goes on being let in.
    const lighter = await clientAt(memory, { ...printed, overage: 0.5 }).send(
      5000,
      1000 / (threshold * 1.01),
    );
    expect(lighter.slice(4000).filter(({ allowed }) => allowed).length).toBeGreaterThan(900);
  });

  it("E28, W23: neither idle one-hit keys nor fresh identities wash an offender out of a full store", async () => {
    const clock = virtualClock(start);
    const limiter = createLimiter({
      name: "seed",
      limit: earrrl(printed),
      store: memoryStore({ clock, maxKeys: 1000 }),
    });
    for (let i = 0; i < 30; i++) await limiter.consume("offender");
    for (let i = 0; i < 20_000; i++) {
      if (i % 100 === 0) clock.advance(200);
      await limiter.consume(`fresh ${i}`);
      if (i % 100 === 0) expect((await limiter.consume("offender")).allowed).toBe(false);
    }
  });
});

describe("on Redis", () => {
  it("E18: two app servers with skewed clocks agree, for the time is the server's, to the microsecond", async () => {
    const own = prefix();
    const skewed = async (skewMs: number): Promise<Verdict> => {
      const real = Date.now;
      const now = vi.spyOn(Date, "now").mockImplementation(() => real.call(Date) + skewMs);
      const limiter = createLimiter({
        name: "seed",
        limit: earrrl({ rate: 0.001, halfLife: "1h" }),
        store: redisStore({ client: redis, prefix: own }),
        deadlineMs: 15_000,
      });
      const verdict = await limiter.consume("user");
      now.mockRestore();
      return verdict;
    };
    const verdicts = [];
    for (const hours of [0, 1, -1, 1, -1, 0]) verdicts.push(await skewed(hours * 3_600_000));
    const perHit = Math.LN2 / 3600;
    for (const [i, { estimate }] of verdicts.entries()) expect(estimate).toBeCloseTo(i * perHit, 5);
    expect(verdicts.some(({ at }) => !Number.isInteger(at))).toBe(true);
  });

  it("E20, E21, E22: the printed script has the printed digest, and beside it ours limits alike and reads alike", async () => {
    const sha = createHash("sha1").update(printedEarrrl).digest("hex");
    expect(sha).toBe("cb3696c74cc51596d07646e64a17f5f2db510adb");
    expect(await redis.script("LOAD", printedEarrrl)).toBe(sha);
    const key = prefix();
    const store = redisStore({ client: redis, prefix: prefix() });
    const check = { rule: "seed", key: "user_key_321", limit: earrrl(printed) };
    for (let i = 0; i < 12; i++) {
      // One after the other on one connection, so that they read the clock within a few milliseconds.
      const [reply, verdicts] = await Promise.all([redis.evalsha(sha, 1, key), store.decide([check])]);
      const [limited, text] = reply as [number | null, string];
      const { allowed, estimate } = verdicts[0] as Verdict;
      expect(allowed ? null : 1).toBe(limited);
      expect(Math.abs((estimate as number) - Number(text))).toBeLessThan(0.005);
      await sleep(10);
    }
    await redis.del(`${key}:N`, `${key}:T`);
  });

  it("E9: peek writes nothing, neither state nor expiry", async () => {
    const own = prefix();
    const store = redisStore({ client: redis, prefix: own });
    const check = { rule: "seed", key: "user", limit: earrrl(printed) };
    await store.peek([check]);
    expect(await redis.exists(`${own}:{user}:seed`)).toBe(0);
    await store.decide([check]);
    const { inside } = await watchScripts(inject("redisPort"), own, async () => {
      for (let i = 0; i < 3; i++) await store.peek([check]);
    });
    expect(new Set(inside.map(([command]) => command))).toEqual(new Set(["mget"]));
  });

  it("E27, W22: every hit leaves an expiry long enough that nothing that matters is forgotten, and needs no eviction policy", async () => {
    const own = prefix();
    const store = redisStore({ client: redis, prefix: own });
    const check = { rule: "seed", key: "user", limit: earrrl({ rate: 0.001, halfLife: 50 }) };
    const perSecond = (Math.LN2 / 50) * 1000;
    for (let i = 0; i < 15; i++) {
      const { estimate, allowed } = (await store.decide([check]))[0] as Verdict;
      expect(allowed).toBe(i === 0);
      const after = (estimate as number) + perSecond;
      // A millionth of the rate is left by then.
      const neededMs = 50 * Math.log2(after / 0.001e-6);
      expect(await redis.pttl(`${own}:{user}:seed`)).toBeGreaterThan(neededMs - 100);
      await sleep(100);
    }
  });

  it("W19: the state is one declared key, so a cluster takes it", async () => {
    const own = prefix();
    const store = redisStore({ client: redis, prefix: own, clock: virtualClock(start) });
    const check = { rule: "seed", key: "user", limit: earrrl(printed) };
    await store.decide([check]);
    const { outside, inside } = await watchScripts(inject("redisPort"), own, async () => {
      await store.decide([check]);
    });
    const [command, , count, key] = outside[0] as string[];
    expect([command, count, key]).toEqual(["evalsha", "1", `${own}:{user}:seed`]);
    for (const words of inside) expect(words.filter((word) => word.startsWith(own))).toEqual([key]);
  });

  it("W21: corrupt state begins afresh and is counted, instead of failing for ever", async () => {
    const own = prefix();
    const warnings: string[] = [];
    const store = redisStore({ client: redis, prefix: own, onWarning: (warning) => warnings.push(warning) });
    const check = { rule: "seed", key: "user", limit: earrrl(printed) };
    await redis.set(`${own}:{user}:seed`, "not a number");
    expect((await store.decide([check]))[0]).toMatchObject({ allowed: true, estimate: 0 });
    await redis.del(`${own}:{user}:seed`);
    await redis.lpush(`${own}:{user}:seed`, "a list");
    expect((await store.decide([check]))[0]).toMatchObject({ allowed: true, estimate: 0 });
    expect((await store.peek([check]))[0]?.estimate).toBeCloseTo(lambda, 3);
    expect(store.resets).toBe(2);
    expect(warnings.join()).toContain("TG_STATE_CORRUPT");
  });

  it("W24: all settings share one script: half-life, rate and overage are arguments", async () => {
    const own = prefix();
    const store = redisStore({ client: redis, prefix: own, clock: virtualClock(start) });
    const limits = [
      earrrl(printed),
      earrrl({ rate: 3, halfLife: "1m", overage: 0.5 }),
      fixedWindow({ limit: 5, window: "1m" }),
    ];
    const ask = async () => {
      for (const limit of limits) await store.decide([{ rule: limit.id, key: "user", limit }]);
    };
    await ask();
    const { outside } = await watchScripts(inject("redisPort"), own, ask);
    expect(outside).toHaveLength(3);
    expect(new Set(outside.map(([, sha]) => sha)).size).toBe(1);
  });
});
