import { Redis } from "ioredis";
import {
  createGate,
  earrrl,
  fixedWindow,
  type Gate,
  type GateOptions,
  memoryStore,
  type Store,
  type Subject,
} from "tidegate";
import { redisStore } from "tidegate/redis";
import { subjectOf } from "tidegate/testing";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";

const redis = new Redis(inject("redisPort"));
afterAll(() => redis.disconnect());

const gates: Gate[] = [];
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close();
});

function open(options: GateOptions): Gate {
  const gate = createGate({ onWarning: () => {}, deadlineMs: 10_000, ...options });
  gates.push(gate);
  return gate;
}

const clock = () => 1_700_000_000_000;
const uniquePrefix = () => `t:${crypto.randomUUID()}`;
const places: [string, () => Store][] = [
  ["memory", () => memoryStore({ clock })],
  ["Redis", () => redisStore({ client: redis, prefix: uniquePrefix(), clock })],
];

const long = "k".repeat(65_536);

/** Names that mean something to JavaScript, to Redis, to a shell, or to Tidegate's own keys. */
const hostile = [
  "constructor",
  "__proto__",
  "hasOwnProperty",
  "toString",
  "a",
  "a{b}",
  "a}{b",
  "{a}",
  "{}",
  "}x",
  "}:api{",
  "a}:api",
  "a}:api:sl:60000",
  "*",
  "?",
  "[a-z]",
  "\\",
  "../",
  "../../etc/passwd",
  "1",
  "1:tier",
  "1:limits",
  "1:tier:tier",
  "customer:1:tier",
  "customer:1:limits",
  "safelist:203.0.113.7",
  "crowd",
  "\0",
  "a\0",
  "a\0b",
  "\r\nDEL a\r\n",
  "*1\r\n$8\r\nFLUSHALL\r\n",
  "%",
  "%00",
  "%7B",
  "%257B",
  "%h",
  "|",
  "a|b",
  "%7C",
  "é",
  "e\u0301",
  "😀",
  "\ud800",
  "\udc00",
  "\ufffd",
  `${long}a`,
  `${long}b`,
];

const facts: Record<string, (name: string) => Partial<Subject> & { headers?: Record<string, string> }> = {
  user: (user) => ({ user }),
  customer: (customer) => ({ customer }),
  apiKey: (key) => ({ headers: { "x-api-key": key } }),
  "header:x-name": (name) => ({ headers: { "x-name": name } }),
};

/** No header can hold it, and in a digest it is one with U+FFFD. */
const isHalf = (name: string) => /^[\ud800-\udfff]$/.test(name);

describe.each(places)("hostile names, counted in %s", (_, openStore) => {
  it.each(Object.entries(facts))("as %s: each has its own count", async (by, factsOf) => {
    const gate = open({
      store: openStore(),
      rules: [{ name: "api", by: by as "user", limits: ["2 per 1m"] }],
    });
    const names = by === "apiKey" ? hostile.filter((name) => !isHalf(name)) : hostile;
    for (const expected of [1, 0]) {
      for (const name of names) {
        const { allowed, verdict } = await gate.decide(subjectOf("203.0.113.7", factsOf(name)));
        expect([allowed, verdict?.remaining], JSON.stringify(name.slice(-40))).toEqual([true, expected]);
      }
    }
    for (const name of names) {
      expect((await gate.decide(subjectOf("203.0.113.7", factsOf(name)))).allowed).toBe(false);
    }
  });

  it("joined to one key, no two pairs share a count", async () => {
    const gate = open({
      store: openStore(),
      rules: [{ name: "pair", by: ["user", "customer"], limits: ["1 per 1m"] }],
      newKeysPerSecond: false,
    });
    const some = hostile.slice(0, 44);
    for (const user of some) {
      const decisions = await Promise.all(
        some.map((customer) => gate.decide(subjectOf("203.0.113.7", { user, customer }))),
      );
      expect(decisions.every(({ allowed }) => allowed)).toBe(true);
    }
  });

  it("as the names of rules, each counts its own", async () => {
    const names = hostile.filter((name) => /^[\x20-\x7e]{1,64}$/.test(name) && name.trim() === name);
    expect(names.length).toBeGreaterThan(25);
    const gate = open({
      store: openStore(),
      rules: names.map((name, i) => ({ name, by: "ip", limits: [`${i + 5} per 1m`] }) as const),
    });
    const { verdicts } = await gate.decide(subjectOf("203.0.113.7"));
    expect(verdicts.map(({ rule, remaining }) => [rule, remaining])).toEqual(
      names.map((name, i) => [name, i + 4]),
    );
    expect(Object.keys(gate.metrics().byRule).sort()).toEqual([...names].sort());
    await gate.clear({ ip: "203.0.113.7" });
    const again = await gate.decide(subjectOf("203.0.113.7"));
    expect(again.verdicts.map(({ remaining }) => remaining)).toEqual(names.map((_, i) => i + 4));
  });

  it("as customers: each has its own tier and limits, and nobody gets another's", async () => {
    const ids = hostile.filter((id) => id.length <= 1024);
    const gate = open({
      store: openStore(),
      rules: [{ name: "api", by: "customer", limits: "tier" }],
      tiers: { free: ["7 per 1m"], pro: ["100 per 1m"] },
      defaultTier: "free",
    });
    await gate.ready;
    const ofWhom = (customer: string) => gate.decide(subjectOf("203.0.113.7", { customer }));
    for (const [i, id] of ids.entries()) {
      if (i % 3 === 0) await gate.customers.setTier(id, "pro");
      if (i % 3 === 1) await gate.customers.setLimits(id, { 60: 1000 + i });
    }
    for (const [i, id] of ids.entries()) {
      const { verdict } = await ofWhom(id);
      const expected = i % 3 === 0 ? 100 : i % 3 === 1 ? 1000 + i : 7;
      expect([verdict?.limit, verdict?.remaining], JSON.stringify(id)).toEqual([expected, expected - 1]);
    }
    for (const id of [`${long}a`, `${long}b`]) expect((await ofWhom(id)).verdict?.remaining).toBe(6);
  });

  it("as addresses: what is none is counted as one, and lists take none of it", async () => {
    const gate = open({ store: openStore(), rules: [{ name: "ip", by: "ip", limits: ["3 per 1m"] }] });
    const allowed: boolean[] = [];
    for (const name of hostile) allowed.push((await gate.decide(subjectOf(name))).allowed);
    expect(allowed.filter(Boolean)).toHaveLength(3);
    for (const name of hostile) {
      await expect(gate.blocklist.add(name)).rejects.toThrow("TG_LIST_ADDRESS");
      await expect(gate.safelist.remove(name)).rejects.toThrow("TG_LIST_ADDRESS");
    }
    expect(await gate.blocklist.entries()).toEqual([]);
  });
});

describe("keys in Redis", () => {
  const tagOf = (key: string) => /\{([^}]*)\}/.exec(key)?.[1];

  async function keysOf(prefix: string): Promise<string[]> {
    const found: string[] = [];
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1000 }))
      found.push(...(keys as string[]));
    return [...new Set(found)];
  }

  it("no name can choose its own hash tag, reach another's key, or pass for a list or a customer", async () => {
    const prefix = uniquePrefix();
    const gate = open({
      store: redisStore({ client: redis, prefix }),
      rules: [{ name: "api", by: "customer", limits: "tier" }],
      tiers: { free: ["100 per 1d"] },
    });
    await gate.ready;
    const ids = hostile.filter((id) => id.length <= 1024);
    for (const id of ids) {
      await gate.customers.setTier(id, "free");
      await gate.customers.setLimits(id, { 60: 5 });
    }
    await gate.blocklist.add("198.51.100.0/24");
    const records = new Set(await keysOf(prefix));
    for (const customer of hostile) await gate.decide(subjectOf("203.0.113.7", { customer }));
    const counters = (await keysOf(prefix)).filter((key) => !records.has(key));

    expect(records.size).toBe(2 * ids.length + 2);
    for (const key of records)
      expect(key.slice(prefix.length)).toMatch(
        /^:(customer:.+:(tier|limits)|blocklist(:198\.51\.100\.0\/24)?)$/s,
      );
    expect(counters).toHaveLength(hostile.length);
    expect(new Set(counters.map(tagOf)).size).toBe(hostile.length);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
    for (const key of counters) expect(key.slice(prefix.length)).toMatch(/^:\{[^{}\0-\x1f]+\}:api$/);
    for (const key of counters) expect(await redis.pttl(key)).toBeGreaterThan(0);
  });
});

describe("a million identities", { timeout: 120_000 }, () => {
  const million = 1_000_000;

  it("from one source fill neither the store nor another's count", async () => {
    const store = memoryStore({ clock });
    const gate = open({ store, rules: [{ name: "account", by: "account", limits: ["5 per 1m"] }] });
    const flood: { -readonly [Name in keyof Subject]: Subject[Name] } = { ...subjectOf("203.0.113.7") };
    let allowed = 0;
    for (let i = 0; i < million; i++) {
      flood.account = `made-up-${i}`;
      if ((await gate.decide(flood)).allowed) allowed++;
    }
    expect(allowed).toBe(1000 + 5);
    // A thousand of its own, the crowd, and the five the crowd let pass.
    expect(store.size).toBe(1000 + 1 + 5);
    const elsewhere = await gate.decide(subjectOf("198.51.100.7", { account: "somebody" }));
    expect(elsewhere).toMatchObject({ allowed: true, verdict: { remaining: 4 } });
    expect(gate.metrics().decisions).toBe(million + 1);
  });

  it("from as many sources stay within the store's bounds, and wash out no offender", async () => {
    const store = memoryStore({ clock, maxKeys: 20_000 });
    const gate = open({
      store,
      rules: [{ name: "ip", by: "ip", limits: ["100 per 1m"], hold: { for: "1h" } }],
    });
    const offender = subjectOf("203.0.113.7");
    for (let i = 0; i < 101; i++) await gate.decide(offender);
    expect(await gate.decide(offender)).toMatchObject({ allowed: false, reason: "held" });
    const flood: { -readonly [Name in keyof Subject]: Subject[Name] } = { ...subjectOf("") };
    for (let i = 0; i < million; i++) {
      flood.ip = `10.${i >>> 16}.${(i >>> 8) & 255}.${i & 255}`;
      await gate.decide(flood);
      if (i % 1000 === 0) expect(store.size).toBeLessThanOrEqual(20_000);
    }
    expect(await gate.decide(offender)).toMatchObject({ allowed: false, reason: "held" });
    expect(gate.busiest(5).length).toBeLessThanOrEqual(5);
  });

  it("are no cover: whoever hides in a crowd of made-up names gets no further guess at a real one", async () => {
    const gate = open({
      store: memoryStore({ clock }),
      rules: [{ name: "account", by: "account", limits: ["5 per 1m"] }],
    });
    let guesses = 0;
    for (let block = 0; block < 20; block++) {
      const ip = `10.0.${block}.1`;
      for (let i = 0; i < 1000; i++) await gate.decide(subjectOf(ip, { account: `made-up-${block}-${i}` }));
      for (let i = 0; i < 10; i++)
        if ((await gate.decide(subjectOf(ip, { account: "victim" }))).allowed) guesses++;
    }
    expect(guesses).toBeLessThanOrEqual(5);
  });

  it.each(
    places.flatMap(([name, openStore]) => [
      { name, openStore, limit: earrrl({ rate: "5 per minute", halfLife: "1m" }) },
      { name, openStore, limit: fixedWindow({ limit: 5, window: "1m", countRefused: true }) },
    ]),
  )("are no cover for one already held: $limit.kind on $name", async ({ openStore, limit }) => {
    const store = openStore();
    const rules = [{ name: "account", by: "account", limits: [limit], hold: { for: "24h" } }] as const;
    const victim = subjectOf("203.0.113.7", { account: "victim" });
    const whoHeld = open({ store, rules });
    for (let i = 0; i < 50; i++) await whoHeld.decide(victim);

    const stranger = open({ store, rules, newKeysPerSecond: 3 });
    const held: string[] = [];
    stranger.on("held", ({ key }) => held.push(key));
    const ip = "10.0.0.1";
    const crowd = Array.from({ length: 5 }, (_, i) => subjectOf(ip, { account: `made-up-${i}` }));
    for (const one of crowd) expect(await stranger.decide(one)).toMatchObject({ allowed: true });
    expect(await stranger.decide({ ...victim, ip })).toMatchObject({
      allowed: false,
      reason: "held",
      verdict: { key: "victim" },
    });
    const inTheCrowd = await stranger.decide(subjectOf(ip, { account: "made-up-5" }));
    expect(inTheCrowd.verdicts.map(({ rule }) => rule)).toEqual(["account crowd"]);
    expect(held).toEqual([]);
  });

  it("of customers are remembered within bounds, each with its own tier", async () => {
    const gate = open({
      store: memoryStore({ clock, maxKeys: 10_000 }),
      rules: [{ name: "api", by: "customer", limits: "tier" }],
      tiers: { free: ["5 per 1m"], pro: ["50 per 1m"] },
      newKeysPerSecond: false,
    });
    await gate.customers.setTier("real", "pro");
    const flood: { -readonly [Name in keyof Subject]: Subject[Name] } = { ...subjectOf("203.0.113.7") };
    for (let i = 0; i < 200_000; i++) {
      flood.customer = `made-up-${i}`;
      await gate.decide(flood);
    }
    const real = await gate.decide(subjectOf("203.0.113.7", { customer: "real" }));
    expect(real.verdict).toMatchObject({ tier: "pro", limit: 50 });
  });
});
