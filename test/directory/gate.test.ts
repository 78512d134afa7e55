import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { createGate, type Gate } from "../../packages/tidegate/src/index.js";
import {
  type RedisClient,
  redisStore,
  type Templates,
} from "../../packages/tidegate/src/stores/redis/index.js";
import { subjectOf } from "../../packages/tidegate/src/testing/subject.js";
import { watchScripts } from "../servers/watch-scripts.js";
import { soon } from "./support.js";

const port = inject("redisPort");
const cli = new Redis(port);
const nodeRedis = createClient({ socket: { port } });
const ioredis = new Redis(port);

beforeAll(() => nodeRedis.connect());
afterAll(() => {
  cli.disconnect();
  ioredis.disconnect();
  nodeRedis.destroy();
});

const policy = {
  rules: [
    { name: "api", by: "customer", limits: "tier" },
    { name: "req/ip", by: "ip", limits: ["1000 per minute"] },
  ],
  tiers: { free: ["2 per hour"], pro: ["100 per minute", "5000 per hour"] },
  defaultTier: "free",
} as const;

describe.each<[string, RedisClient]>([
  ["ioredis", ioredis],
  ["node-redis", nodeRedis],
])("a gate on Redis, through %s", (_, client) => {
  let prefix: string;
  let gate: Gate;

  async function open(templates?: Templates): Promise<void> {
    gate = createGate({ ...policy, store: redisStore({ client, prefix, ...(templates && { templates }) }) });
    await gate.ready;
  }

  beforeEach(async () => {
    prefix = `t:${crypto.randomUUID()}`;
    await open();
  });
  afterEach(() => gate.close());

  const reasonOf = async (ip: string): Promise<string> => (await gate.decide(subjectOf(ip))).reason;
  const tierOf = async (customer: string): Promise<string | undefined> =>
    (await gate.explain(subjectOf("203.0.113.7", { customer }))).rules[0]?.tier;

  it("a list entry set by redis-cli holds within a second, and ends when deleted or by itself", async () => {
    await cli.set(`${prefix}:blocklist:45.0.186.198`, '{"who":"ann","why":"scraper"}', "EX", 604_800);
    await soon("the blocklist", async () => (await reasonOf("45.0.186.198")) === "blocklist");
    expect((await gate.explain(subjectOf("45.0.186.198"))).words).toContain("by ann (scraper)");
    await cli.del(`${prefix}:blocklist:45.0.186.198`);
    await soon("the end of the block", async () => (await reasonOf("45.0.186.198")) === "within-limits");
    await cli.set(`${prefix}:safelist:10.0.0.0/8`, "", "PX", 300);
    await soon("the safelist", async () => (await reasonOf("10.1.2.3")) === "safelist");
    await soon("its natural end", async () => (await reasonOf("10.1.2.3")) === "within-limits");
  });

  it("an address listed in two spellings is refused as long as either is there, and removed in both", async () => {
    await cli.set(`${prefix}:blocklist:198.51.100.1`, "");
    await cli.set(`${prefix}:blocklist:198.51.100.1/32`, "");
    await soon("both", async () => (await gate.blocklist.entries()).length === 2);
    await soon("the block", async () => (await reasonOf("198.51.100.1")) === "blocklist");
    await cli.del(`${prefix}:blocklist:198.51.100.1`);
    await soon("one less", async () => (await gate.blocklist.entries()).length === 1);
    await cli.set(`${prefix}:blocklist:198.51.100.2`, "");
    await soon("a later change", async () => (await reasonOf("198.51.100.2")) === "blocklist");
    expect(await reasonOf("198.51.100.1")).toBe("blocklist");
    expect(await gate.blocklist.remove("198.51.100.1")).toBe(true);
    expect(await reasonOf("198.51.100.1")).toBe("within-limits");
    expect(await cli.exists(`${prefix}:blocklist:198.51.100.1/32`)).toBe(0);
  });

  it("a tier and an override set by redis-cli hold within a second, while counts go on", async () => {
    const customer = subjectOf("203.0.113.7", { customer: "42" });
    for (let i = 0; i < 2; i++) await gate.decide(customer);
    expect((await gate.decide(customer)).allowed).toBe(false);
    await cli.set(`${prefix}:customer:42:tier`, "pro");
    await soon("the tier", async () => (await tierOf("42")) === "pro");
    expect((await gate.decide(customer)).verdicts[1]?.remaining).toBe(4997);
    await cli.hset(`${prefix}:customer:42:limits`, { 60: 7 });
    await soon("the override", async () => (await tierOf("42")) === "override");
    expect((await gate.decide(customer)).verdict).toMatchObject({ name: "override/60", remaining: 5 });
    await cli.del(`${prefix}:customer:42:limits`);
    await soon("the tier again", async () => (await tierOf("42")) === "pro");
  });

  it("what the gate writes is laid out for redis-cli", async () => {
    await gate.blocklist.add("45.0.186.198", { who: "ann", why: "scraper" });
    await gate.customers.setTier("42", "pro");
    await gate.customers.setLimits("3", { 60: 100, 3600: 1000 });
    const ttl = await cli.ttl(`${prefix}:blocklist:45.0.186.198`);
    expect(Math.abs(ttl - 604_800)).toBeLessThanOrEqual(1);
    expect(JSON.parse((await cli.get(`${prefix}:blocklist:45.0.186.198`)) ?? "")).toEqual({
      who: "ann",
      why: "scraper",
    });
    expect(await cli.get(`${prefix}:customer:42:tier`)).toBe("pro");
    expect(await cli.ttl(`${prefix}:customer:42:tier`)).toBe(-1);
    expect(await cli.hgetall(`${prefix}:customer:3:limits`)).toEqual({ 60: "100", 3600: "1000" });
  });

  it("data laid out as the seeds have it is read as it is", async () => {
    await gate.close();
    const at = crypto.randomUUID();
    await cli.set(`safelist-${at}:102.232.240.209`, "x", "EX", 602_795);
    await cli.set(`customer-${at}:2:tier_redis`, "pro");
    await cli.hset(`customer-${at}:3:throttle_hash`, { 60: 100, 3600: 1000, 86400: 10_000 });
    await open({
      safelist: `safelist-${at}:<ip>`,
      blocklist: `blocklist-${at}:<ip>`,
      tier: `customer-${at}:<id>:tier_redis`,
      limits: `customer-${at}:<id>:throttle_hash`,
    });
    await soon("the safelist", async () => (await reasonOf("102.232.240.209")) === "safelist");
    expect(await tierOf("2")).toBe("pro");
    expect(await tierOf("3")).toBe("override");
    expect(await tierOf("1")).toBe("free");
  });

  it("one request costs one round trip: no list and no customer known is asked for", async () => {
    await gate.decide(subjectOf("203.0.113.7", { customer: "42" }));
    const { outside } = await watchScripts(port, prefix, () =>
      gate.decide(subjectOf("203.0.113.7", { customer: "42" })),
    );
    expect(outside.map(([command]) => command)).toEqual(["evalsha"]);
  });
});
