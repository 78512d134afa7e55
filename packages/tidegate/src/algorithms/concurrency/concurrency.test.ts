import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Verdict } from "../../decision.js";
import { createLimiter } from "../../index.js";
import type { Limit } from "../../limit.js";
import type { Store } from "../../store.js";
import { memoryStore } from "../../stores/memory/memory-store.js";
import { redisStore } from "../../stores/redis/redis-store.js";
import { differences } from "../../testing/vector.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { concurrency } from "./concurrency.js";

const start = 1_700_000_000_000;
const leaseFor = 1000;
let client: Redis;

beforeAll(() => {
  client = new Redis(inject("redisPort"));
});
afterAll(() => client.disconnect());

function openRedis(clock?: () => number): { store: ReturnType<typeof redisStore>; key: string } {
  const prefix = `t:${crypto.randomUUID()}`;
  return {
    store: redisStore({ client, prefix, ...(clock && { clock }), onWarning() {} }),
    key: `${prefix}:{k}:r:co`,
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

const acts = fc.array(
  fc.record({
    verb: fc.constantFrom("decide", "decide", "decide", "peek", "release", "releaseNewest"),
    waitMs: fc.oneof(
      { weight: 6, arbitrary: fc.nat(300) },
      { weight: 1, arbitrary: fc.constantFrom(0, leaseFor, -1, -600) },
    ),
    cost: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 6 })),
    id: fc.option(fc.constantFrom("a", "b", "c", "d", "e"), { nil: undefined, freq: 6 }),
    limit: fc.constantFrom(5, 5, 5, 2, 8),
    leaseFor: fc.constantFrom(leaseFor, leaseFor, 300, 2000),
  }),
  { minLength: 1, maxLength: 60 },
);

describe("concurrency", () => {
  it("says what the definition says, and never has more than N out", async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (trace) => {
        const clock = virtualClock(start);
        const store = memoryStore({ clock });
        let held = new Map<string, { end: number; slots: number }>();
        for (const act of trace) {
          clock.advance(Math.max(0, act.waitMs));
          const now = clock();
          const limit = concurrency({ limit: act.limit, leaseFor: act.leaseFor });
          const id = act.id ?? "z";
          held = new Map([...held].filter(([, { end }]) => end > now));
          const used = [...held.values()].reduce((sum, { slots }) => sum + slots, 0);
          if (act.verb === "release" || act.verb === "releaseNewest") {
            held.delete(id);
            store.refund([{ rule: "r", key: "k", limit, id }]);
            continue;
          }
          const own = held.get(id);
          const allowed = own !== undefined || used + act.cost <= act.limit;
          const verdict = await ask(store, act.verb, limit, { cost: act.cost, id });
          expect(verdict.allowed).toBe(allowed);
          if (act.verb === "peek") continue;
          if (allowed)
            held.set(id, {
              end: Math.max(own?.end ?? 0, now + act.leaseFor),
              slots: own?.slots ?? act.cost,
            });
          const after = [...held.values()].reduce((sum, { slots }) => sum + slots, 0);
          expect(verdict.remaining).toBe(Math.max(0, act.limit - after));
          if (allowed && own === undefined) expect(after).toBeLessThanOrEqual(act.limit);
        }
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it("passes exactly when it said it would, and not a millisecond before", async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (trace) => {
        const clock = virtualClock(start);
        const store = memoryStore({ clock });
        const limit = concurrency({ limit: 6, leaseFor });
        for (const { waitMs, cost, id } of trace) {
          clock.advance(Math.max(0, waitMs));
          const { allowed, retryAfterMs } = await ask(store, "decide", limit, { cost, id });
          if (allowed) continue;
          const now = clock();
          clock.set(now + retryAfterMs - 1);
          expect((await ask(store, "peek", limit, { cost, id })).allowed).toBe(false);
          clock.set(now + retryAfterMs);
          expect((await ask(store, "peek", limit, { cost, id })).allowed).toBe(true);
          clock.set(now);
        }
      }),
      { numRuns: 300, seed: 2 },
    );
  });

  it("is the same on Redis, verdict for verdict", async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (trace) => {
        const clock = virtualClock(start);
        const stores = [memoryStore({ clock }), openRedis(clock).store] as const;
        for (const [step, act] of trace.entries()) {
          clock.advance(act.waitMs);
          const limit = concurrency({ limit: act.limit, leaseFor: act.leaseFor });
          const { cost, id } = act;
          if (act.verb === "release" || act.verb === "releaseNewest") {
            const own = act.verb === "release" && { id: id ?? "a" };
            for (const store of stores) await store.refund([{ rule: "r", key: "k", limit, cost, ...own }]);
          } else {
            const [inMemory, onRedis] = await Promise.all(
              stores.map((store) => ask(store, act.verb as "decide" | "peek", limit, { cost, id })),
            );
            expect(differences(onRedis as Verdict, inMemory as Verdict), `step ${step}`).toEqual([]);
          }
        }
      }),
      { numRuns: 300, seed: 3 },
    );
  });

  it("the limiter takes, renews and releases", async () => {
    const clock = virtualClock(start);
    for (const store of [memoryStore({ clock }), openRedis(clock).store]) {
      const calls = createLimiter({
        name: "calls",
        limit: concurrency({ limit: 2, leaseFor: "30s" }),
        store,
      });
      const first = await calls.acquire("user");
      {
        await using second = await calls.acquire("user");
        expect([first.allowed, second.allowed]).toEqual([true, true]);
        expect((await calls.acquire("user")).allowed).toBe(false);
      }
      expect((await calls.peek("user")).remaining).toBe(1);
      clock.advance("20s");
      expect((await first.renew()).allowed).toBe(true);
      clock.advance("29s");
      expect((await calls.peek("user")).remaining).toBe(1);
      await first.release();
      await first.release();
      expect((await calls.peek("user")).remaining).toBe(2);
    }
  });

  it("a holder that dies blocks nobody for longer than its lease", async () => {
    const { store, key } = openRedis();
    const limit = concurrency({ limit: 1, leaseFor: 300 });
    expect((await ask(store, "decide", limit, { id: "dead" })).allowed).toBe(true);
    const left = await client.pttl(key);
    expect(left).toBeGreaterThan(200);
    expect(left).toBeLessThanOrEqual(301);
    expect((await ask(store, "decide", limit, { id: "next" })).allowed).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 310));
    expect(await client.exists(key)).toBe(0);
    expect((await ask(store, "decide", limit, { id: "next" })).allowed).toBe(true);
  });

  it("leases that ended leave nothing behind in Redis", async () => {
    const clock = virtualClock(start);
    const { store, key } = openRedis(clock);
    const limit = concurrency({ limit: 3, leaseFor });
    for (let i = 0; i < 50; i++) {
      clock.advance(400);
      await ask(store, "decide", limit, { id: `lease-${i}` });
      expect(await client.zcard(key)).toBeLessThanOrEqual(3);
    }
  });

  it("a key of another type, or with a lease without end, is begun afresh and counted", async () => {
    const clock = virtualClock(start);
    const { store, key } = openRedis(clock);
    const limit = concurrency({ limit: 2, leaseFor });
    for (const [i, spoil] of [() => client.set(key, "x"), () => client.zadd(key, "+inf", "x")].entries()) {
      await client.del(key);
      await spoil();
      expect((await ask(store, "peek", limit, { id: "a" })).remaining).toBe(2);
      await store.refund([{ rule: "r", key: "k", limit, id: "a" }]);
      expect((await ask(store, "decide", limit, { id: "a" })).remaining).toBe(1);
      expect(store.resets).toBe(i + 1);
    }
  });

  it.each([
    [{ limit: -1, leaseFor: "1m" }, "concurrency.limit"],
    [{ limit: 1.5, leaseFor: "1m" }, "concurrency.limit"],
    [{ limit: 1_000_001, leaseFor: "1m" }, "concurrency.limit"],
    [{ limit: 1, leaseFor: "soon" }, "concurrency.leaseFor"],
    [{ limit: 1 }, "concurrency.leaseFor"],
    [{ limit: 1, leaseFor: "1m", window: "1m" }, "concurrency.window"],
  ])("refuses %o by name", (options, path) => {
    expect(() => concurrency(options as never)).toThrow(expect.objectContaining({ path }));
  });
});
