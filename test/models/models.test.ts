import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { Redis } from "ioredis";
import { type Charge, type Check, type Limit, memoryStore, type Store, type Verdict } from "tidegate";
import { redisStore } from "tidegate/redis";
import { differences, type VirtualClock, virtualClock } from "tidegate/testing";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type Model, models } from "./models.js";

const start = 1_493_393_400_123;
const seed = 1_493_393_400;

let redis: Redis;
beforeAll(() => {
  redis = new Redis(inject("redisPort"));
});
afterAll(() => redis.disconnect());

const places: readonly { name: string; runs: number; open: (clock: VirtualClock) => Store }[] = [
  { name: "memory", runs: 150, open: (clock) => memoryStore({ clock }) },
  { name: "Redis", runs: 6, open: (clock) => redisStore({ client: redis, prefix: randomUUID(), clock }) },
];

interface Call {
  readonly gapMs: number;
  readonly cost: number;
}

const gaps = fc.oneof(
  { arbitrary: fc.constant(0), weight: 5 },
  { arbitrary: fc.constantFrom(0.5, 1, 10, 100, 249, 250, 251, 499, 500, 999, 1000, 1001), weight: 4 },
  { arbitrary: fc.nat(3000), weight: 2 },
);

function trafficFor({ costs }: Model): fc.Arbitrary<Call[]> {
  return fc.array(fc.record({ gapMs: gaps, cost: fc.oneof(fc.constant(1), fc.constantFrom(...costs)) }), {
    minLength: 1,
    maxLength: 60,
    size: "max",
  });
}

const numbers = fc.integer({ min: 1, max: 9 });

/** One key under one limit at a place, on a clock of its own. */
class Desk {
  readonly clock = virtualClock(start);
  readonly store: Store;
  limit: Limit;

  constructor(place: (typeof places)[number], limit: Limit) {
    this.store = place.open(this.clock);
    this.limit = limit;
  }

  check(cost = 1): Check {
    return { rule: "model", key: "k", limit: this.limit, cost };
  }

  async consume(cost?: number): Promise<Verdict> {
    return (await this.store.decide([this.check(cost)]))[0] as Verdict;
  }

  async peek(cost?: number): Promise<Verdict> {
    return (await this.store.peek([this.check(cost)]))[0] as Verdict;
  }

  async refund(charges: readonly Partial<Charge>[]): Promise<void> {
    await this.store.refund(charges.map((charge) => ({ ...this.check(), ...charge })));
  }
}

for (const place of places) {
  describe.each(models.map((model) => [model.name, model] as const))(`%s in ${place.name}`, (_, model) => {
    const { limit: limitOf } = model;

    function holds(
      promise: string,
      property: (n: number, traffic: Call[], salt: number) => Promise<void>,
    ): void {
      it(promise, { timeout: 60_000 }, () =>
        fc.assert(fc.asyncProperty(numbers, trafficFor(model), fc.nat(2 ** 30), property), {
          seed,
          numRuns: place.runs,
        }),
      );
    }

    holds("never lets through more than its documentation says", async (n, traffic) => {
      const desk = new Desk(place, limitOf(n));
      const passed: { at: number; cost: number }[] = [];
      for (const { gapMs, cost } of traffic) {
        desk.clock.advance(gapMs);
        if ((await desk.consume(cost)).allowed) passed.push({ at: desk.clock(), cost });
      }
      for (const lengthMs of model.stretchesMs) {
        for (const { at: until } of passed) {
          const within = passed.filter(({ at }) => at > until - lengthMs && at <= until);
          const sum = within.reduce((sum, { cost }) => sum + cost, 0);
          expect(sum, `in ${lengthMs} ms`).toBeLessThanOrEqual(model.most(lengthMs, n) * (1 + 1e-9));
        }
      }
    });

    if (!model.countsRefused)
      holds("a refused call changes nothing, then or later", async (n, traffic) => {
        const [all, onlyPassed] = [new Desk(place, limitOf(n)), new Desk(place, limitOf(n))];
        for (const { gapMs, cost } of traffic) {
          all.clock.advance(gapMs);
          onlyPassed.clock.advance(gapMs);
          const verdict = await all.consume(cost);
          const alike = await (verdict.allowed ? onlyPassed.consume(cost) : onlyPassed.peek(cost));
          expect(differences(verdict, alike)).toEqual([]);
        }
      });

    holds("peek changes nothing, however often", async (n, traffic, salt) => {
      const [peeking, plain] = [new Desk(place, limitOf(n)), new Desk(place, limitOf(n))];
      for (const [i, { gapMs, cost }] of traffic.entries()) {
        peeking.clock.advance(gapMs);
        plain.clock.advance(gapMs);
        const seen = await peeking.peek(cost);
        if ((salt >> (i % 30)) & 1) expect(await peeking.peek(cost)).toEqual(seen);
        const verdict = await peeking.consume(cost);
        expect(verdict.allowed).toBe(seen.allowed);
        expect(verdict).toEqual(await plain.consume(cost));
      }
    });

    holds("refunds never make room for more than the quota", async (n, traffic, salt) => {
      const desk = new Desk(place, limitOf(n));
      const charged: Verdict[] = [];
      for (const [i, { gapMs, cost }] of traffic.entries()) {
        desk.clock.advance(gapMs);
        const verdict = await desk.consume(cost);
        if (verdict.allowed) charged.push(verdict);
        const draw = (salt >> (i % 28)) & 7;
        const { cost: given, at, resetAfterMs } = charged[draw % (charged.length || 1)] ?? verdict;
        if (draw < 3) await desk.refund([{ cost: given, at, resetAfterMs }]);
        else if (draw === 3) await desk.refund([{ cost }]);
        const { remaining, limit } = await desk.peek();
        expect(remaining).toBeLessThanOrEqual(limit);
      }
      let atOnce = 0;
      while (atOnce <= desk.limit.limit && (await desk.consume()).allowed) atOnce++;
      expect(atOnce).toBeLessThanOrEqual(desk.limit.limit);
    });

    holds("a refund of what was charged just now undoes it", async (n, traffic) => {
      const desk = new Desk(place, limitOf(n));
      for (const { gapMs, cost } of traffic) {
        desk.clock.advance(gapMs);
        const before = await desk.peek(cost);
        const verdict = await desk.consume(cost);
        if (!verdict.allowed) continue;
        await desk.refund([{ cost, at: verdict.at, resetAfterMs: verdict.resetAfterMs }]);
        const after = await desk.peek(cost);
        expect(after.allowed).toBe(true);
        expect(Math.abs(after.remaining - before.remaining)).toBeLessThan(1e-6);
        await desk.consume(cost);
      }
    });

    holds(
      "a change of its number, and of the limits beside it, keeps the count",
      async (n, traffic, salt) => {
        const [changing, steady] = [new Desk(place, limitOf(n)), new Desk(place, limitOf(n))];
        const others = models.filter(({ costs }) => costs.length > 1 && costs.every(Number.isInteger));
        for (const [i, { gapMs, cost }] of traffic.entries()) {
          changing.clock.advance(gapMs);
          steady.clock.advance(gapMs);
          // What would pass by the steady number is charged under another one, too high to refuse it.
          const verdict = await steady.consume(cost);
          if (!verdict.allowed && model.countsRefused) await changing.consume(cost);
          if (!verdict.allowed) continue;
          changing.limit = limitOf(n + 1000 * ((salt >> (i % 28)) & 3));
          await changing.consume(cost);
          const other = others[i % others.length] as Model;
          if (other.name !== model.name && cost === 1)
            await changing.store.decide([{ ...changing.check(), limit: other.limit(1000) }]);
          changing.limit = limitOf(n);
          expect(differences(await changing.peek(cost), await steady.peek(cost))).toEqual([]);
        }
      },
    );

    holds("retryAfterMs is when the call passes, and no millisecond sooner", async (n, traffic, salt) => {
      const desk = new Desk(place, limitOf(n));
      for (const { gapMs, cost } of traffic) {
        desk.clock.advance(gapMs);
        const { allowed, retryAfterMs } = await desk.consume(cost);
        if (allowed) expect(retryAfterMs).toBe(0);
        if (allowed || retryAfterMs === Number.POSITIVE_INFINITY) continue;
        const now = desk.clock();
        const sooner = [0, salt % retryAfterMs, retryAfterMs - 1];
        for (const waitMs of sooner) {
          desk.clock.set(now + waitMs);
          expect((await desk.peek(cost)).allowed, `after ${waitMs} of ${retryAfterMs} ms`).toBe(false);
        }
        desk.clock.set(now + retryAfterMs);
        expect((await desk.peek(cost)).allowed, `after ${retryAfterMs} ms`).toBe(true);
        desk.clock.set(now);
      }
    });

    holds("a patient client is never refused", async (n, traffic) => {
      const desk = new Desk(place, limitOf(n));
      for (const { gapMs } of traffic) {
        desk.clock.set(Math.ceil(desk.clock()) + Math.ceil(model.patientMs(n)) + gapMs);
        expect((await desk.consume()).allowed).toBe(true);
      }
    });

    holds(
      "a hold refuses until its end or the limit's own wait, whichever is later",
      async (n, traffic, salt) => {
        const desk = new Desk(place, limitOf(n));
        for (const { gapMs, cost } of traffic.slice(0, 20)) {
          desk.clock.advance(gapMs);
          await desk.consume(cost);
        }
        const forMs = 1 + (salt % 2500);
        const own = (await desk.peek()).retryAfterMs;
        await desk.store.hold("model", "k", forMs);
        const held = await desk.peek();
        expect(held).toMatchObject({ allowed: false, heldUntil: desk.clock() + forMs });
        expect(held.retryAfterMs).toBe(Math.max(own, forMs));
        desk.clock.advance(held.retryAfterMs - 1);
        expect((await desk.peek()).allowed).toBe(false);
        desk.clock.advance(1);
        expect((await desk.peek()).allowed).toBe(true);
      },
    );
  });
}
