import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { concurrency, createLimiter, memoryStore, type Store, slidingLog } from "tidegate";
import { redisStore } from "tidegate/redis";
import { virtualClock } from "tidegate/testing";
import { afterAll, describe, expect, inject, it } from "vitest";

const redis = new Redis(inject("redisPort"));
afterAll(() => redis.disconnect());

const clock = virtualClock(1_700_000_000_000);
const places: [string, () => Store][] = [
  ["memory", () => memoryStore({ clock })],
  ["Redis", () => redisStore({ client: redis, prefix: `t:${crypto.randomUUID()}`, clock })],
];

describe.each(places)("leases in %s", (_, open) => {
  const calls = () =>
    createLimiter({ name: "calls", limit: concurrency({ limit: 1, leaseFor: "10s" }), store: open() });

  it("a slot that was lost stays lost, however often it is renewed", async () => {
    const limiter = calls();
    const lost = await limiter.acquire("k");
    clock.advance("10s");
    const owner = await limiter.acquire("k");
    expect(owner.allowed).toBe(true);
    for (let i = 0; i < 3; i++) expect((await lost.renew()).allowed).toBe(false);
    await lost.release();
    expect((await owner.renew()).allowed).toBe(true);
  });

  it("a released slot can not be renewed", async () => {
    const limiter = calls();
    const lease = await limiter.acquire("k");
    await lease.release();
    const verdict = await lease.renew();
    expect(verdict.allowed).toBe(false);
    expect(verdict.retryAfterMs).toBeGreaterThan(0);
    expect((await limiter.peek("k")).remaining).toBe(1);
  });

  it("a renewal refused by a hold does not keep the slot from being released", async () => {
    const limiter = calls();
    const lease = await limiter.acquire("k");
    await limiter.hold("k", "1s");
    expect((await lease.renew()).allowed).toBe(false);
    await lease.release();
    clock.advance("1s");
    expect((await limiter.peek("k")).remaining).toBe(1);
  });

  it("nobody takes a million slots in one call", async () => {
    const limiter = createLimiter({
      name: "many",
      limit: concurrency({ limit: 1_000_000, leaseFor: "10s" }),
      store: open(),
    });
    await expect(limiter.consume("k", { cost: 1_000_000 })).rejects.toThrow("TG_SLOTS");
  });
});

describe.each(places)("logs in %s", (_, open) => {
  it("a cost too small to count is no free entry", async () => {
    const limiter = createLimiter({
      name: "sum",
      limit: slidingLog({ limit: 5, window: "1m" }),
      store: open(),
    });
    await limiter.consume("k", { cost: 5 });
    await expect(limiter.consume("k", { cost: 1e-17 })).rejects.toThrow("TG_COST_TINY");
    expect((await limiter.consume("k", { cost: 1e-6 })).allowed).toBe(false);
  });
});

describe("settings that can not work", () => {
  it("a list log beside leases is refused when the limiter is made: a lease needs an id, a list takes none", () => {
    const limits = [
      concurrency({ limit: 1, leaseFor: "10s" }),
      slidingLog({ limit: 5, window: "1m", encoding: "list" }),
    ] as const;
    expect(() => createLimiter({ name: "calls", limits })).toThrow("TG_ENCODING");
  });

  it("a misspelt option of a call is refused by name", async () => {
    const limiter = createLimiter({ name: "api", limit: "5 per hour" });
    await expect(limiter.consume("k", { csot: 5 } as never)).rejects.toThrow(/^options\.csot: /);
    expect((await limiter.peek("k")).remaining).toBe(5);
  });
});

describe("a clock that tells no time", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, "5", undefined])(
    "such as %s is an error, and lets nobody in",
    async (now) => {
      const clock = () => now as number;
      const prefix = `t:${crypto.randomUUID()}`;
      for (const store of [memoryStore({ clock }), redisStore({ client: redis, prefix, clock })]) {
        const limiter = createLimiter({ name: "api", limit: "5 per hour", store });
        await expect(limiter.consume("k")).rejects.toThrow("TG_CLOCK");
      }
    },
  );
});

describe("very long keys", () => {
  it("of equal length are counted apart in logs, and cost their length in neither time nor memory", async () => {
    const limiter = createLimiter({ name: "log", limit: slidingLog({ limit: 2, window: "1m" }) });
    const key = (i: number) => `${"k".repeat(65_536)}${i}`.slice(-65_536);
    for (let i = 1000; i < 1400; i++) expect((await limiter.consume(key(i))).remaining).toBe(1);
    for (let i = 1000; i < 1400; i++) expect((await limiter.consume(key(i))).remaining).toBe(0);
  });
});

describe("tidegate/testing outside a test run", () => {
  it("loads, and gives its clock", async () => {
    const testing = fileURLToPath(new URL("../../packages/tidegate/dist/testing/index.js", import.meta.url));
    const program = `
      const { virtualClock } = await import(${JSON.stringify(testing)});
      const clock = virtualClock(5);
      clock.advance("1s");
      console.log(clock());`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    expect(stdout).toBe("1005\n");
  });
});
