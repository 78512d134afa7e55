import { Redis } from "ioredis";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import {
  type RedisDirectory,
  type RedisDirectoryOptions,
  redisDirectory,
} from "../../packages/tidegate/src/stores/redis/directory/redis-directory.js";
import { uniquePrefix } from "../faults/support.js";
import { pictureOf, soon } from "./support.js";

const cli = new Redis(inject("redisPort"));
const opened: RedisDirectory[] = [];

afterEach(() => {
  for (const directory of opened.splice(0)) directory.close();
});
afterAll(() => cli.disconnect());

function open(options: Omit<RedisDirectoryOptions, "client">, client = cli): RedisDirectory {
  const directory = redisDirectory({ client, ...options });
  opened.push(directory);
  return directory;
}

describe("the seeds' layout", () => {
  const seed = (at: string) => ({
    safelist: `${at}safelist:<ip>`,
    blocklist: `${at}blocklist:<ip>`,
    tier: `${at}customer:<id>:tier_redis`,
    limits: `${at}customer:<id>:throttle_hash`,
  });

  it("is read as it is, and followed", async () => {
    const at = `${uniquePrefix()}/`;
    await cli.set(`${at}blocklist:45.0.186.198`, "1", "EX", 602_795);
    await cli.set(`${at}customer:3:tier_redis`, "enterprise");
    await cli.hset(`${at}customer:3:throttle_hash`, { 60: 100, 3600: 1000, 86400: 10_000 });
    const directory = open({ prefix: uniquePrefix(), templates: seed(at) });
    const seen = pictureOf(directory);
    await directory.ready;
    const blocked = seen.blocklist.get("45.0.186.198");
    expect(Math.abs((blocked?.until ?? 0) - Date.now() - 602_795_000)).toBeLessThan(5000);
    expect(await directory.customer("3")).toEqual({
      tier: "enterprise",
      limits: new Map([
        [60, 100],
        [3600, 1000],
        [86_400, 10_000],
      ]),
    });
    await cli.set(`${at}safelist:102.232.240.209`, "1");
    await soon("SET", () => seen.safelist.has("102.232.240.209"));
    await cli.hset(`${at}customer:3:throttle_hash`, "60", 5);
    await soon("HSET", () => seen.customers.includes("3"));
    await cli.del(`${at}blocklist:45.0.186.198`);
    await soon("DEL", () => seen.blocklist.size === 0);
  });

  it("is written as it is: a string with a TTL, a tier without one, a hash", async () => {
    const at = `${uniquePrefix()}/`;
    const directory = open({ prefix: uniquePrefix(), templates: seed(at) });
    await directory.put("blocklist", { address: "45.0.186.198", until: Date.now() + 604_800_000 });
    await directory.putCustomer("3", { tier: "pro", limits: new Map([[60, 100]]) });
    expect(await cli.type(`${at}blocklist:45.0.186.198`)).toBe("string");
    expect(Math.abs((await cli.ttl(`${at}blocklist:45.0.186.198`)) - 604_800)).toBeLessThanOrEqual(1);
    expect(await cli.get(`${at}customer:3:tier_redis`)).toBe("pro");
    expect(await cli.ttl(`${at}customer:3:tier_redis`)).toBe(-1);
    expect(await cli.hgetall(`${at}customer:3:throttle_hash`)).toEqual({ 60: "100" });
  });

  it("under one prefix beside the usual one, neither disturbs the other's index", async () => {
    const prefix = uniquePrefix();
    const usual = open({ prefix });
    const seeds = open({ prefix, templates: seed(`${uniquePrefix()}/`) });
    await usual.put("safelist", { address: "192.0.2.1" });
    await seeds.put("safelist", { address: "192.0.2.2" });
    const [ours, theirs] = [pictureOf(usual), pictureOf(seeds)];
    await Promise.all([usual.ready, seeds.ready]);
    expect([...ours.safelist.keys()]).toEqual(["192.0.2.1"]);
    expect([...theirs.safelist.keys()]).toEqual(["192.0.2.2"]);
  });
});

describe("hostile customer ids", () => {
  const ids = [
    "constructor",
    "__proto__",
    "a:tier",
    "a:limits",
    "a",
    "a:b",
    "%61",
    "a%3Atier",
    "a{b}",
    "a*",
    "a?[b]\\",
    "nul\u0000",
    "new\nline",
    " ",
    "é",
    "x".repeat(65_536),
    "%h".padEnd(66, "0"),
  ];

  it("each names its own record and nobody else's", async () => {
    const directory = open({ prefix: uniquePrefix() });
    for (const [i, id] of ids.entries()) {
      await directory.putCustomer(id, { tier: `tier${i}`, limits: new Map([[60, i]]) });
    }
    for (const [i, id] of ids.entries()) {
      expect(await directory.customer(id)).toEqual({ tier: `tier${i}`, limits: new Map([[60, i]]) });
    }
    for (const id of ids) {
      await directory.putCustomer(id, {});
      expect(await directory.customer(id)).toBeUndefined();
    }
  });

  it("are told by name when changed by another hand; one kept as a digest has everybody forgotten", async () => {
    const prefix = uniquePrefix();
    const writer = open({ prefix });
    const directory = open({ prefix });
    const seen = pictureOf(directory);
    await directory.ready;
    for (const id of ids) {
      const before = seen.customers.length;
      await writer.putCustomer(id, { tier: "pro" });
      const expected = id.length > 256 ? undefined : id;
      await soon(`${id.slice(0, 20)} to be told`, () => seen.customers.slice(before).includes(expected));
      expect(new Set(seen.customers.slice(before))).toEqual(new Set([expected]));
    }
  });

  it("glob characters in prefix, templates and addresses widen no search", async () => {
    const at = uniquePrefix();
    await cli.set(`${at}XsafelistX192.0.2.1`, "");
    await cli.set(`${at}*safelist[192.0.2.2`, "");
    const directory = open({
      prefix: `${at}:t*[a-z]?`,
      templates: { safelist: `${at}*safelist[<ip>`, blocklist: `${at}*blocklist[<ip>` },
    });
    await directory.put("safelist", { address: "*" });
    const addresses = (await directory.entries("safelist")).map(({ address }) => address);
    expect(addresses.sort()).toEqual(["*", "192.0.2.2"]);
  });
});

describe("foreign contents", () => {
  it("whatever an entry's key holds, it is an entry; a key of another type is none", async () => {
    const prefix = uniquePrefix();
    const texts = [
      "",
      "1",
      "spam from here",
      "null",
      "[1]",
      '{"who":1}',
      '{"__proto__":{"who":"x"}}',
      "{",
      "\xff",
    ];
    for (const [i, text] of texts.entries()) await cli.set(`${prefix}:blocklist:192.0.2.${i}`, text);
    await cli.hset(`${prefix}:blocklist:192.0.2.99`, "a", "b");
    const directory = open({ prefix });
    const seen = pictureOf(directory);
    await directory.ready;
    expect(seen.blocklist.size).toBe(texts.length);
    expect(seen.blocklist.get("192.0.2.0")).toEqual({ address: "192.0.2.0" });
    expect(seen.blocklist.get("192.0.2.2")).toEqual({ address: "192.0.2.2", why: "spam from here" });
    expect(seen.blocklist.get("192.0.2.5")).toEqual({ address: "192.0.2.5" });
    expect(seen.failures).toEqual([]);
  });

  it("malformed fields of a customer's limits are left out and reported, records of another type are none", async () => {
    const prefix = uniquePrefix();
    const directory = open({ prefix });
    const seen = pictureOf(directory);
    await directory.ready;
    const fields = { 60: "100", "1e3": "5", "-1": "5", 0: "5", 3600: "many", "": "1", 120: "1.5" };
    await cli.hset(`${prefix}:customer:3:limits`, fields);
    expect(await directory.customer("3")).toEqual({ limits: new Map([[60, 100]]) });
    expect(seen.failures).toMatchObject([{ code: "TG_DIRECTORY_RECORD" }]);
    await cli.set(`${prefix}:customer:4:limits`, "text");
    await cli.hset(`${prefix}:customer:4:tier`, "a", "b");
    expect(await directory.customer("4")).toBeUndefined();
  });

  it("an index of another type costs nothing but time", async () => {
    const prefix = uniquePrefix();
    await cli.set(`${prefix}:safelist`, "not a set");
    await cli.set(`${prefix}:safelist:192.0.2.1`, "");
    const directory = open({ prefix });
    const seen = pictureOf(directory);
    await directory.ready;
    await directory.put("safelist", { address: "192.0.2.2" });
    expect([...seen.safelist.keys()]).toEqual(["192.0.2.1", "192.0.2.2"]);
    expect(await directory.remove("safelist", "192.0.2.2")).toBe(true);
  });
});

describe("a client with a key prefix of its own", () => {
  it("reads, writes, searches and hears under it", async () => {
    const keyPrefix = `app[${crypto.randomUUID()}]:`;
    const client = new Redis(inject("redisPort"), { keyPrefix });
    await cli.set(`${keyPrefix}tg:safelist:192.0.2.1`, "");
    const directory = open({}, client);
    const seen = pictureOf(directory);
    await directory.ready;
    expect([...seen.safelist.keys()]).toEqual(["192.0.2.1"]);
    await cli.set(`${keyPrefix}tg:safelist:192.0.2.2`, "");
    await soon("SET", () => seen.safelist.has("192.0.2.2"));
    await directory.put("blocklist", { address: "192.0.2.3" });
    expect(await cli.exists(`${keyPrefix}tg:blocklist:192.0.2.3`)).toBe(1);
    directory.close();
    client.disconnect();
  });
});
