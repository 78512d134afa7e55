import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import type { Check } from "../../check.js";
import type { Verdict } from "../../decision.js";
import { Reading } from "../../limit.js";
import type { Store } from "../../store.js";
import { memoryStore } from "../../stores/memory/memory-store.js";
import { redisStore } from "../../stores/redis/redis-store.js";
import { trial } from "../../testing/trial.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { earrrl } from "./earrrl.js";

const start = 1_700_000_000_000;

/** Per second. */
function lambdaOf(halfLifeMs: number): number {
  return (Math.LN2 / halfLifeMs) * 1000;
}

/** What the estimate reads just before each call of a client that has long sent `rate` a second, each call weighing `weight`. */
function steadyBefore(rate: number, lambda: number, weight = 1): number {
  return (weight * lambda) / Math.expm1(lambda / rate);
}

let redis: Redis;
beforeAll(() => {
  redis = new Redis(inject("redisPort"));
});
afterAll(() => redis.disconnect());

describe("the estimate", () => {
  // Requests #0 to #11 of the printed table, and when they must have come.
  const printed: [offsetMicros: number, estimate: number][] = [
    [0, 0],
    [1010561, 0.064625593423117],
    [2026148, 0.12483578218756],
    [3042952, 0.18093794941434],
    [4055923, 0.2332841604735],
    [5068786, 0.28208311764286],
    [6081680, 0.32757287863479],
    [7094375, 0.36998350934232],
    [8111156, 0.40940326068647],
    [9123377, 0.44628146174133],
    [10137396, 0.48060100760135],
    [11150474, 0.51262461170605],
  ];

  test.each(["memory", "Redis"])("is what the printed table says, in %s", async (where) => {
    const clock = virtualClock();
    const store: Store =
      where === "memory"
        ? memoryStore({ clock })
        : redisStore({ client: redis, prefix: `t:${crypto.randomUUID()}`, clock });
    const check = { rule: "table", key: "user_key_321", limit: earrrl({ rate: 0.5, halfLife: "10s" }) };
    for (const [i, [offset, estimate]] of printed.entries()) {
      clock.set(start + offset / 1000);
      const verdict = (await store.decide([check]))[0] as Verdict;
      expect(Math.abs((verdict.estimate as number) - estimate)).toBeLessThan(1e-8);
      expect(verdict.allowed, `#${i}`).toBe(i < 11);
    }
  });

  test("follows the closed form at one call a second", () => {
    const lambda = lambdaOf(10_000);
    const limit = trial(earrrl({ rate: 0.5, halfLife: "10s" }));
    const q = Math.exp(-lambda);
    for (let n = 0; n < 100; n++) {
      expect(limit.consume(start + n * 1000).estimate).toBeCloseTo((lambda * q * (1 - q ** n)) / (1 - q), 9);
    }
  });

  test("reads a little below the true rate just before a call, a little above just after, and halves in a half-life", () => {
    const lambda = lambdaOf(10_000);
    const limit = trial(earrrl({ rate: 0.5, halfLife: "10s" }));
    // The printed run's spacing: its loop ticked every 1.0135 s, and #70 read 0.94514712058575.
    const estimates = Array.from(
      { length: 72 },
      (_, i) => limit.consume(start + i * 1013.5).estimate as number,
    );
    expect(estimates[70]).toBeCloseTo(0.94514712058575, 3);
    const last = start + 71 * 1013.5;
    const after = limit.peek(last).estimate as number;
    expect(after - (estimates[71] as number)).toBeCloseTo(lambda, 9);
    expect(after).toBeGreaterThan(1);
    expect(limit.peek(last + 10_000).estimate).toBeCloseTo(after / 2, 9);
    expect(limit.peek(last + 10_013.5).estimate).toBeCloseTo(0.50703163627721, 3);
  });

  test.each([10, 1, 0.1])("converges to a rate of %s per second and falls off again", (rate) => {
    const lambda = lambdaOf(10_000);
    const limit = trial(earrrl({ rate: 1e6, halfLife: "10s" }));
    const gap = 1000 / rate;
    const count = 150 * rate;
    // Calls from t = 50 s to t = 200 s.
    const at = (seconds: number) => start + seconds * 1000;
    const closed = (seconds: number) => {
      const sent = Math.min(count, Math.floor(((seconds - 50) * 1000) / gap + 1e-9) + 1);
      const lastMs = (seconds - 50) * 1000 - (sent - 1) * gap;
      const q = Math.exp((-lambda * gap) / 1000);
      return (lambda * Math.exp((-lambda * lastMs) / 1000) * (1 - q ** sent)) / (1 - q);
    };
    const moments = [60, 70, 110, 200, 210];
    let sent = 0;
    for (const seconds of moments) {
      for (; sent < count && 50_000 + sent * gap <= seconds * 1000 + 1e-6; sent++)
        limit.consume(at(50) + sent * gap);
      expect(limit.peek(at(seconds)).estimate).toBeCloseTo(closed(seconds), 6);
    }
    expect(closed(60) / rate).toBeGreaterThan(0.5);
    expect(closed(60)).toBeLessThanOrEqual(rate / 2 + lambda);
    expect(Math.abs(closed(110) - rate)).toBeLessThanOrEqual(lambda + rate / 64);
    expect(closed(210)).toBeCloseTo(closed(200) / 2, 9);
  });

  test.each([
    [10, 10_000],
    [1, 10_000],
    [0.1, 10_000],
    [10, 1000],
    [1, 1000],
    [0.1, 1000],
  ])("of %s per second swings in a band lambda wide around it, at a half-life of %s ms", (rate, halfLife) => {
    const lambda = lambdaOf(halfLife);
    const limit = trial(earrrl({ rate: 1e6, halfLife }));
    const calls = Math.ceil(200 * rate + 20);
    for (let i = 0; i < calls; i++) limit.consume(start + (i * 1000) / rate);
    const at = start + (calls * 1000) / rate;
    const before = limit.consume(at).estimate as number;
    const after = limit.peek(at).estimate as number;
    expect(before).toBeCloseTo(steadyBefore(rate, lambda), 4);
    expect(after - before).toBeCloseTo(lambda, 9);
    expect(before).toBeLessThan(rate);
    expect(after).toBeGreaterThan(rate);
  });

  test("two calls of cost 1 are one of cost 2", () => {
    const [twice, once] = [1, 2].map(() => trial(earrrl({ rate: 1, halfLife: "10s" })));
    twice?.consume(start);
    twice?.consume(start);
    once?.consume(start, 2);
    expect(once?.peek(start + 777)).toEqual(twice?.peek(start + 777));
  });
});

describe("who is let in", () => {
  test("a client below the rate is never refused", () => {
    const limit = trial(earrrl({ rate: 0.5, halfLife: "10s" }));
    for (let i = 0; i < 1440; i++) expect(limit.consume(start + i * 2500).allowed).toBe(true);
  });

  test("a client constantly above it is refused for as long as it goes on, and forgiven when it told", () => {
    const limit = trial(earrrl({ rate: 0.5, halfLife: "10s" }));
    const verdicts = Array.from({ length: 3600 }, (_, i) => limit.consume(start + i * 1000));
    const grace = verdicts.findIndex(({ allowed }) => !allowed);
    expect(grace).toBe(11);
    expect(verdicts.slice(grace).some(({ allowed }) => allowed)).toBe(false);
    const last = start + 3599 * 1000;
    const { estimate } = limit.peek(last);
    const silence = 10_000 * Math.log2((estimate as number) / 0.5);
    expect(verdicts.at(-1)?.retryAfterMs).toBe(Math.ceil(silence));
    expect(limit.peek(last + Math.ceil(silence) - 1).allowed).toBe(false);
    expect(limit.consume(last + Math.ceil(silence)).allowed).toBe(true);
  });

  test("the silence asked for grows by a half-life with each doubling of the rate", () => {
    const waits = [2, 4, 8, 16].map((times) => {
      const limit = trial(earrrl({ rate: 1, halfLife: "20s" }));
      let verdict = limit.consume(start);
      for (let i = 1; i < 400 * times; i++) verdict = limit.consume(start + (i * 1000) / times);
      // Just after a call the estimate is lambda / (1 - e^(-lambda / rate)).
      const after = steadyBefore(times, lambdaOf(20_000)) + lambdaOf(20_000);
      expect(Math.abs(verdict.retryAfterMs - 20_000 * Math.log2(after))).toBeLessThan(2);
      return verdict.retryAfterMs;
    });
    for (let i = 1; i < waits.length; i++)
      expect(Math.abs((waits[i] as number) - (waits[i - 1] as number) - 20_000)).toBeLessThan(300);
  });

  test("a refused call passes exactly when it was told", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 50, 1000, 10_000, 3_600_000, 400 * 86_400_000),
        fc.double({ min: 0.05, max: 500, noNaN: true }),
        fc.constantFrom(0, 0.25, 1),
        fc.array(
          fc.record({
            gap: fc.double({ min: 0, max: 2, noNaN: true }),
            cost: fc.double({ min: 0.01, max: 2, noNaN: true }),
          }),
          { minLength: 1, maxLength: 30, size: "max" },
        ),
        (halfLife, burst, overage, hits) => {
          const rate = burst * lambdaOf(halfLife);
          const limit = trial(earrrl({ rate, halfLife, overage }));
          let now = start;
          for (const { gap, cost } of hits) {
            now += gap * halfLife;
            const { allowed, retryAfterMs } = limit.consume(now, cost * burst);
            if (allowed) continue;
            expect(Number.isInteger(retryAfterMs)).toBe(true);
            expect(limit.peek(now + retryAfterMs).allowed).toBe(true);
            if (retryAfterMs > 1) expect(limit.peek(now + retryAfterMs - 1).allowed).toBe(false);
          }
        },
      ),
    );
  });

  test("floor(rate / lambda) + 1 pass at once from rest, and it says so", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 200, noNaN: true }),
        fc.integer({ min: 100, max: 60_000 }),
        (rate, halfLife) => {
          const burst = Math.floor((rate / lambdaOf(halfLife)) * (1 + 1e-12)) + 1;
          fc.pre(burst < 3000);
          const limit = trial(earrrl({ rate, halfLife }));
          const first = limit.peek(start);
          expect(first).toMatchObject({ limit: burst, remaining: burst });
          let passed = 0;
          while (limit.consume(start).allowed) passed++;
          expect(passed).toBe(burst);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("remaining calls pass at once, and not one more", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3000), { maxLength: 30, size: "max" }), (gaps) => {
        const limit = trial(earrrl({ rate: 0.5, halfLife: "10s" }));
        let now = start;
        for (const gap of gaps) {
          now += gap;
          limit.consume(now);
        }
        const { remaining } = limit.peek(now);
        for (let i = 0; i < remaining; i++) expect(limit.consume(now).allowed).toBe(true);
        expect(limit.consume(now).allowed).toBe(false);
      }),
    );
  });

  test("lets through at most (rate + lambda) · (d + 1 / lambda) in any stretch d", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 0.25, 1),
        fc.array(fc.oneof(fc.constant(0), fc.nat(4000)), { maxLength: 200, size: "max" }),
        (overage, gaps) => {
          const rate = 1;
          const lambda = lambdaOf(5000);
          const limit = trial(earrrl({ rate, halfLife: "5s", overage }));
          const passed: number[] = [];
          let now = start;
          for (const gap of gaps) {
            now += gap;
            if (limit.consume(now).allowed) passed.push(now);
          }
          let most = 0;
          for (const [i, first] of passed.entries()) {
            for (let j = i; j < passed.length; j++) {
              const seconds = ((passed[j] as number) - first) / 1000;
              most = Math.max(most, j - i + 1 - (rate + lambda) * (seconds + 1 / lambda));
            }
          }
          expect(most).toBeLessThanOrEqual(1e-9);
        },
      ),
    );
  });
});

describe("overage", () => {
  /** From this steady rate on a client is locked out for as long as it goes on. */
  const lockedAbove = (rate: number, lambda: number, overage: number) =>
    lambda / Math.log1p((overage * lambda) / rate);

  function shareOf(verdicts: readonly Verdict[]): number {
    return verdicts.filter(({ allowed }) => allowed).length / verdicts.length;
  }

  /** A client's calls at a steady rate, after it has long sent so. */
  function steady(options: Parameters<typeof earrrl>[0], rate: number, calls: number): Verdict[] {
    const limit = trial(earrrl(options));
    const gap = 1000 / rate;
    return Array.from({ length: 2 * calls }, (_, i) => limit.consume(1e6 + i * gap)).slice(calls);
  }

  const grid = [0.1, 0.25, 0.5, 1].flatMap((overage) =>
    [1000, 10_000, 20_000].flatMap((halfLife) =>
      [0.5, 1, 5].map((rate) => [overage, halfLife, rate] as const),
    ),
  );

  test.each(grid)(
    "of %s at a half-life of %s ms and a rate of %s locks out above lambda / ln(1 + overage · lambda / rate), and nobody below",
    (overage, halfLife, rate) => {
      const edge = lockedAbove(rate, lambdaOf(halfLife), overage);
      expect(shareOf(steady({ rate, halfLife, overage }, edge * 1.002, 3000))).toBe(0);
      expect(shareOf(steady({ rate, halfLife, overage }, edge * 0.998, 3000))).toBeGreaterThan(0);
    },
  );

  test("of 1 has no half measures: a client a little over the steady threshold is out, one a little under always in", () => {
    const edge = lockedAbove(0.5, lambdaOf(10_000), 1);
    // A little above the rate itself, by about half of lambda.
    expect(edge).toBeCloseTo(0.5 + lambdaOf(10_000) / 2, 2);
    const under = trial(earrrl({ rate: 0.5, halfLife: "10s" }));
    for (let i = 0; i < 5000; i++)
      expect(under.consume(1e6 + (i * 1000) / (edge * 0.999)).allowed).toBe(true);
    expect(shareOf(steady({ rate: 0.5, halfLife: "10s" }, edge * 1.001, 5000))).toBe(0);
  });

  test("of w < 1 lets (m - w) / (1 - w) of the calls pass, m = rate · (e^(lambda / r) - 1) / lambda, to within 1 - e^(-lambda / r)", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        fc.double({ min: 0.2, max: 10, noNaN: true }),
        fc.integer({ min: 1000, max: 60_000 }),
        fc.double({ min: 0.02, max: 0.98, noNaN: true }),
        (overage, rate, halfLife, between) => {
          const lambda = lambdaOf(halfLife);
          const never = lockedAbove(rate, lambda, 1);
          const ever = Math.min(lockedAbove(rate, lambda, overage), 20 * rate);
          const r = never + (ever - never) * between;
          const q = Math.exp(-lambda / r);
          const calls = 4000;
          const share = shareOf(steady({ rate, halfLife, overage }, r, calls));
          const lowest = ((rate * (1 - q)) / lambda - overage * q) / (1 - overage);
          const middle = ((rate * Math.expm1(lambda / r)) / lambda - overage) / (1 - overage);
          const slack = 4 / ((1 - overage) * calls);
          expect(share).toBeGreaterThanOrEqual(Math.max(0, lowest) - slack);
          expect(share).toBeLessThanOrEqual(lowest + (1 - q) + slack);
          expect(Math.abs(share - middle)).toBeLessThanOrEqual(1 - q + slack);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("of 0 locks out nobody: a flood gets the rate, and no more", () => {
    for (const times of [2, 10, 100]) {
      const share = shareOf(steady({ rate: 1, halfLife: "10s", overage: 0 }, times, 10_000));
      expect(share * times).toBeGreaterThan(0.9);
      expect(share * times).toBeLessThan(1.1);
    }
  });

  test("the smaller, the sooner a client that reforms is let in, and the more passes", () => {
    const outcomes = [1, 0.75, 0.5, 0.25, 0].map((overage) => {
      const limit = trial(earrrl({ rate: 1, halfLife: "20s", overage }));
      const times = [
        ...Array.from({ length: 250 }, (_, i) => i * 600),
        ...Array.from({ length: 150 }, (_, i) => 150_000 + i * 1000),
      ];
      const verdicts = times.map((at) => limit.consume(start + at));
      const lastRefused = verdicts.filter(({ allowed }) => !allowed).at(-1);
      return {
        passed: verdicts.filter(({ allowed }) => allowed).length,
        resumed: (lastRefused?.at as number) - start,
        verdicts,
      };
    });
    for (let i = 1; i < outcomes.length; i++) {
      expect(outcomes[i]?.passed).toBeGreaterThan(outcomes[i - 1]?.passed as number);
      expect(outcomes[i]?.resumed).toBeLessThanOrEqual(outcomes[i - 1]?.resumed as number);
    }
    // Full weight: a grace, then none at all, then all.
    const full = outcomes[0]?.verdicts.map(({ allowed }) => (allowed ? "+" : "-")).join("");
    expect(full).toMatch(/^\+{40,}-{250,}\+{40,}$/);
  });
});

describe("what is remembered", () => {
  test("peek changes nothing, in Redis neither key nor expiry", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const store = redisStore({ client: redis, prefix });
    const check = { rule: "r", key: "k", limit: earrrl({ rate: 0.5, halfLife: "10s" }) };
    await store.peek([check]);
    expect(await redis.exists(`${prefix}:{k}:r`)).toBe(0);
    await store.decide([check]);
    const before = await redis.getBuffer(`${prefix}:{k}:r`);
    const expiry = await redis.call("PEXPIRETIME", `${prefix}:{k}:r`).catch(() => undefined);
    await store.peek([check]);
    await store.peek([check]);
    expect(await redis.getBuffer(`${prefix}:{k}:r`)).toEqual(before);
    expect(await redis.call("PEXPIRETIME", `${prefix}:{k}:r`).catch(() => undefined)).toBe(expiry);
  });

  test("what is forgotten at the expiry was below a millionth of the rate, and no sooner than after a second", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 86_400_000 }),
        fc.double({ min: 0.001, max: 1000, noNaN: true }),
        fc.double({ min: 0.001, max: 1e6, noNaN: true }),
        fc.nat(3_600_000),
        (halfLife, rate, hits, ago) => {
          const limit = earrrl({ rate, halfLife });
          const cells = new Float64Array([hits, start - ago]);
          const reading = new Reading();
          limit.read(cells, 0, start, 1, reading);
          expect(reading.expiresAt).toBeGreaterThanOrEqual(start + 1000);
          const age = reading.expiresAt - (start - ago);
          expect(hits * lambdaOf(halfLife) * 2 ** (-age / halfLife)).toBeLessThanOrEqual(rate * 1e-6 * 1.001);
        },
      ),
    );
  });

  test("Redis keeps a key at least that long after every hit, and at most a quarter longer", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const store = redisStore({ client: redis, prefix });
    const limit = earrrl({ rate: 0.5, halfLife: "10s" });
    for (let hits = 1; hits <= 30; hits++) {
      await store.decide([{ rule: "r", key: "k", limit }]);
      const ttl = await redis.pttl(`${prefix}:{k}:r`);
      // Until its hits have faded to a millionth of one, which is less than a millionth of the rate.
      const needed = 10_000 * Math.log2(hits / 1e-6);
      expect(ttl).toBeGreaterThan(needed - 2000);
      expect(ttl).toBeLessThan(needed * 1.25 + 1000);
    }
    await store.decide([{ rule: "r", key: "brief", limit: earrrl({ rate: 1, halfLife: 1 }) }]);
    const brief = await redis.pttl(`${prefix}:{brief}:r`);
    expect(brief).toBeGreaterThan(900);
    expect(brief).toBeLessThanOrEqual(1252);
  });

  test("an active offender is never forgotten by Redis, though each expiry is shorter than the flood", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const store = redisStore({ client: redis, prefix });
    const check = { rule: "r", key: "k", limit: earrrl({ rate: 1e-6, halfLife: 20 }) };
    await store.decide([check]);
    const began = performance.now();
    let longestTtl = 0;
    while (performance.now() - began < 2000) {
      // It would take half a second of silence to be let in.
      await new Promise((resolve) => setTimeout(resolve, 25));
      expect((await store.decide([check]))[0]?.allowed).toBe(false);
      longestTtl = Math.max(longestTtl, await redis.pttl(`${prefix}:{k}:r`));
    }
    expect(longestTtl).toBeLessThan(1500);
  });

  test("an active offender is never forgotten in memory, however long it goes on", () => {
    const limit = trial(earrrl({ rate: 0.5, halfLife: "10s" }));
    for (let i = 0; i < 20; i++) limit.consume(start + i * 1000);
    let passed = 0;
    for (let i = 20; i < 20_000; i++) passed += limit.consume(start + i * 1000).allowed ? 1 : 0;
    expect(passed).toBe(0);
  });

  test("a flood of fresh identities does not wash an offender out of a full memory", () => {
    const clock = virtualClock(start);
    const store = memoryStore({ clock, maxKeys: 1000 });
    const check = (key: string): Check => ({ rule: "r", key, limit: earrrl({ rate: 0.5, halfLife: "10s" }) });
    for (let i = 0; i < 30; i++) store.decide([check("offender")]);
    for (let i = 0; i < 20_000; i++) {
      if (i % 2000 === 0) {
        clock.advance(1000);
        expect(store.decide([check("offender")])[0]?.allowed).toBe(false);
      }
      store.decide([check(`fresh ${i}`)]);
    }
    expect(store.decide([check("offender")])[0]?.allowed).toBe(false);
    expect(store.size).toBeLessThanOrEqual(1000);
  });

  test("a clock an hour behind makes no ban of one hit, and an hour ahead forgets no more than an hour", async () => {
    const clock = virtualClock(start);
    const store = redisStore({ client: redis, prefix: `t:${crypto.randomUUID()}`, clock });
    const check = { rule: "r", key: "k", limit: earrrl({ rate: 0.5, halfLife: "10s" }) };
    await store.decide([check]);
    clock.advance(-3_600_000);
    expect((await store.decide([check]))[0]).toMatchObject({ allowed: true, remaining: 6 });
    clock.set(start + 10_000);
    expect((await store.peek([check]))[0]?.estimate).toBeCloseTo(lambdaOf(10_000), 9);
  });

  test.each([
    ["garbage", (key: string) => redis.set(key, "not a number")],
    ["another type", (key: string) => redis.lpush(key, "x")],
    ["an empty string", (key: string) => redis.set(key, "")],
  ])("a key of %s is begun afresh and counted", async (_, spoil) => {
    const prefix = `t:${crypto.randomUUID()}`;
    const onWarning = vi.fn();
    const store = redisStore({ client: redis, prefix, onWarning });
    const check = { rule: "r", key: "k", limit: earrrl({ rate: 0.5, halfLife: "10s" }) };
    await spoil(`${prefix}:{k}:r`);
    expect((await store.decide([check]))[0]).toMatchObject({ allowed: true, estimate: 0 });
    expect((await store.decide([check]))[0]?.estimate).toBeGreaterThan(0.06);
    expect(store.resets).toBe(1);
    expect(onWarning).toHaveBeenCalledOnce();
    expect(await redis.pttl(`${prefix}:{k}:r`)).toBeGreaterThan(0);
  });

  test("every setting is a parameter: one store judges many settings at once", async () => {
    const clock = virtualClock(start);
    const store = redisStore({ client: redis, prefix: `t:${crypto.randomUUID()}`, clock });
    const checks = [
      { rule: "slow", key: "k", limit: earrrl({ rate: "30 per minute", halfLife: "10s" }) },
      { rule: "fast", key: "k", limit: earrrl({ rate: 100, halfLife: "1s", overage: 0.5 }) },
    ];
    for (let i = 0; i < 8; i++) await store.decide(checks);
    const [slow, fast] = await store.decide(checks);
    expect(slow).toMatchObject({ allowed: false, limit: 8 });
    expect(fast).toMatchObject({ allowed: true, limit: 145 });
    expect(slow?.retryAfterMs).toBe(Math.ceil(10_000 * Math.log2((9 * lambdaOf(10_000)) / 0.5)));
  });
});

describe("options", () => {
  test("a rate per minute is a rate per second", () => {
    expect(earrrl({ rate: "30 per minute", halfLife: "10s" }).args).toEqual(
      earrrl({ rate: 0.5, halfLife: 10_000 }).args,
    );
  });

  test.each<[options: unknown, path: string, value: string]>([
    [undefined, "earrrl", "undefined"],
    [{ halfLife: "10s" }, "earrrl.rate", "undefined"],
    [{ rate: 0, halfLife: "10s" }, "earrrl.rate", "0"],
    [{ rate: -1, halfLife: "10s" }, "earrrl.rate", "-1"],
    [{ rate: Number.NaN, halfLife: "10s" }, "earrrl.rate", "NaN"],
    [{ rate: Number.POSITIVE_INFINITY, halfLife: "10s" }, "earrrl.rate", "Infinity"],
    [{ rate: "0 per minute", halfLife: "10s" }, "earrrl.rate", '"0 per minute"'],
    [{ rate: "30 a minute", halfLife: "10s" }, "earrrl.rate", '"30 a minute"'],
    [{ rate: 1 }, "earrrl.halfLife", "undefined"],
    [{ rate: 1, halfLife: 0 }, "earrrl.halfLife", "0"],
    [{ rate: 1, halfLife: "ten" }, "earrrl.halfLife", '"ten"'],
    [{ rate: 1, halfLife: "10s", overage: -0.1 }, "earrrl.overage", "-0.1"],
    [{ rate: 1, halfLife: "10s", overage: 1.1 }, "earrrl.overage", "1.1"],
    [{ rate: 1, halfLife: "10s", overage: "1" }, "earrrl.overage", '"1"'],
    [{ rate: 1, halfLife: "10s", overage: Number.NaN }, "earrrl.overage", "NaN"],
    [{ rate: 1, halfLife: "10s", epsilon: 0.1 }, "earrrl.epsilon", "no such option"],
  ])("refuses %j and says where and why", (options, path, value) => {
    expect(() => earrrl(options as never)).toThrow(
      expect.objectContaining({ name: "ConfigError", path, message: expect.stringContaining(value) }),
    );
  });
});
