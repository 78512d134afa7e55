import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import {
  backoff,
  concurrency,
  createGate,
  createLimiter,
  type Directory,
  fixedWindow,
  loginRules,
  memoryStore,
  type RuleOptions,
  tokenBucket,
} from "tidegate";
import { tidegate } from "tidegate/node";
import { redisStore } from "tidegate/redis";
import { subjectOf, virtualClock } from "tidegate/testing";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";

/** What scenarios can not show: HTTP answers, keys in Redis, and a database that is down. */

const redis = new Redis(inject("redisPort"));
afterAll(() => redis.disconnect());

const client = subjectOf("203.0.113.7");
const perIp: RuleOptions = { name: "req/ip", by: "ip", limits: ["1 per minute"] };

let server: Server | undefined;
afterEach(() => server?.close());

async function serve(options: Parameters<typeof tidegate>[0]): Promise<{ url: string; calls: () => number }> {
  let calls = 0;
  server = createServer(
    tidegate(options)((_, res) => {
      calls++;
      res.end("ok");
    }),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, calls: () => calls };
}

describe("S0", () => {
  it("A5: a counter has an end from its first hit, and is gone after it", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const store = redisStore({ client: redis, prefix });
    const limiter = createLimiter({ name: "req", limit: "10 per 1s", store });
    await limiter.consume("203.0.113.7");
    const ttl = await redis.pttl(`${prefix}:{203.0.113.7}:req`);
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(2000);
    await sleep(ttl + 50);
    expect(await redis.exists(`${prefix}:{203.0.113.7}:req`)).toBe(0);
  });

  it("A7: a refused request never reaches the application", async () => {
    const { url, calls } = await serve({ rules: [perIp] });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await fetch(url)).status);
    expect(statuses).toEqual([200, 429, 429, 429]);
    expect(calls()).toBe(1);
  });

  it("A9: a rule not exposed reveals neither limit nor reset, allowed or refused", async () => {
    const { url } = await serve({ rules: [{ ...perIp, expose: false }] });
    for (const status of [200, 429]) {
      const answer = await fetch(url);
      expect(answer.status).toBe(status);
      const names = [...answer.headers.keys()].filter((name) => /limit|retry|reset/i.test(name));
      expect(names).toEqual([]);
      expect(await answer.text()).not.toMatch(/minute|60|retry/i);
    }
  });

  it("A9: protecting servers may delay instead of refusing", async () => {
    const { url, calls } = await serve({
      rules: [{ ...perIp, limits: [tokenBucket({ rate: "20 per second", burst: 3 })], action: "delay" }],
    });
    const statuses = await Promise.all(Array.from({ length: 3 }, async () => (await fetch(url)).status));
    expect(statuses).toEqual([200, 200, 200]);
    expect(calls()).toBe(3);
  });

  it("A24: with the database of customers down, limiting goes on, and nobody asks it per request", async () => {
    let asked = 0;
    const down = (): never => {
      asked++;
      throw new Error("the database is down");
    };
    const directory: Directory = {
      entries: down,
      put: down,
      remove: down,
      customer: down,
      putCustomer: down,
      watch: () => () => {},
    };
    const clock = virtualClock(1_700_000_000_000);
    const gate = createGate({
      store: memoryStore({ clock }),
      directory,
      onWarning: () => {},
      rules: [{ name: "api", by: "customer", limits: "tier" }],
      tiers: { free: ["5 per hour"] },
    });
    let passed = 0;
    for (let i = 0; i < 100; i++)
      passed += Number((await gate.decide(subjectOf("203.0.113.7", { customer: "1" }))).allowed);
    expect(passed).toBe(5);
    expect(asked).toBe(1);
  });

  it("A32: in a shared Redis every key begins with the prefix, and no other key is touched", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const others = { [`${prefix}-cache`]: "page", [`{203.0.113.7}:req/ip:${prefix}`]: "job" };
    await redis.mset(others);
    const before = new Set(await redis.keys("*"));
    const gate = createGate({ store: redisStore({ client: redis, prefix }), rules: [perIp] });
    for (let i = 0; i < 3; i++) await gate.decide(client);
    await gate.blocklist.add("198.51.100.1");
    await gate.clear({ ip: "203.0.113.7" });
    await gate.decide(client);
    const made = (await redis.keys(`*${prefix}*`)).filter((key) => !before.has(key));
    expect(made.length).toBeGreaterThan(0);
    expect(made.filter((key) => !key.startsWith(`${prefix}:`))).toEqual([]);
    expect(await redis.mget(Object.keys(others))).toEqual(Object.values(others));
    await gate.close();
  });

  it.each<[string, RuleOptions[], refusedAt: number]>([
    [
      "Stripe's request rate limiter",
      [{ name: "r", by: "user", limits: [tokenBucket({ rate: "1 per second", burst: 5 })] }],
      6,
    ],
    [
      "Stripe's concurrent requests limiter",
      [{ name: "r", by: "user", limits: [concurrency({ limit: 2, leaseFor: "1m" })] }],
      3,
    ],
    ["rack-throttle, a minimum interval", [{ name: "r", by: "ip", limits: ["1 per 3s"] }], 2],
    [
      "rack-ratelimit, windows by class of client",
      [{ name: "r", by: "header:x-class", limits: [fixedWindow({ limit: 3, window: "1m" })] }],
      4,
    ],
    [
      "nginx limit_req burst=2 nodelay",
      [{ name: "r", by: "ip", limits: [tokenBucket({ rate: "1 per second", burst: 3 })] }],
      4,
    ],
    ["Coding Horror's dictionary attacks", loginRules({ only: "/" }), 4],
    [
      "F5's exponential backoff",
      [{ name: "r", by: "ip", limits: backoff({ levels: 3, limit: 2, base: 2 }) }],
      3,
    ],
  ])("A33: %s has its counterpart", async (_, rules, refusedAt) => {
    const clock = virtualClock(1_700_000_000_000);
    const gate = createGate({ store: memoryStore({ clock }), rules, onWarning: () => {} });
    const subject = subjectOf("203.0.113.7", { user: "1", account: "bob", headers: { "x-class": "a" } });
    let count = 1;
    while ((await gate.decide(subject)).allowed) count++;
    expect(count).toBe(refusedAt);
  });

  it("W3: a customer's id may be a number; none at all is nobody, and never the customer with an empty id", async () => {
    const gate = createGate({
      rules: [{ name: "api", by: "customer", limits: "tier" }],
      tiers: { free: ["1 per hour"], pro: ["9 per hour"] },
      onWarning: () => {},
    });
    await gate.customers.setTier("7", "pro");
    expect((await gate.decide(subjectOf("203.0.113.7", { customer: 7 as never }))).verdict).toMatchObject({
      key: "7",
      tier: "pro",
    });
    expect((await gate.decide(subjectOf("203.0.113.7", { customer: "" }))).reason).toBe("no-rule");
    expect((await gate.decide(client)).reason).toBe("no-rule");
  });

  it("W33: one client is reset in all rules at once", async () => {
    const gate = createGate({
      rules: [
        perIp,
        { name: "hour", by: "ip", limits: ["2 per hour"] },
        { name: "net", by: "network", limits: ["3 per hour"] },
      ],
    });
    for (let i = 0; i < 3; i++) await gate.decide(client);
    expect((await gate.decide(client)).allowed).toBe(false);
    expect((await gate.clear({ ip: "203.0.113.7" })).cleared.map(({ rule }) => rule)).toEqual([
      "req/ip",
      "hour",
      "net",
    ]);
    expect((await gate.decide(client)).verdicts.map(({ remaining }) => remaining)).toEqual([0, 1, 2]);
  });
});
