import { createClient, createCluster } from "@redis/client";
import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { createClient as createClient5, createCluster as createCluster5 } from "redis-client5";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { type Picture, pictureOf, soon } from "../../../../../../test/directory/support.js";
import { until } from "../../../../../../test/faults/support.js";
import type { ListEntry } from "../../../directory.js";
import type { RedisClient } from "../connection.js";
import { type RedisDirectory, redisDirectory } from "./redis-directory.js";

const port = inject("redisPort");
const clusterPorts = inject("redisClusterPorts");
const nodes = clusterPorts.map((at) => ({ host: "127.0.0.1", port: at }));
const rootNodes = clusterPorts.map((at) => ({ url: `redis://127.0.0.1:${at}` }));
const url = `redis://127.0.0.1:${port}`;

interface Opened {
  client: RedisClient;
  connect?: () => Promise<unknown>;
  close: () => unknown;
}

/** Every client we say we take, under a name by which its connections are found. */
const clients: Record<string, (name: string) => Opened> = {
  "ioredis 6": (connectionName) => ioredis(new Redis(port, { connectionName })),
  "ioredis 5": (connectionName) => ioredis(new Redis5(port, { connectionName })),
  "node-redis 6": (name) => nodeRedis(createClient({ url, name })),
  "node-redis 5": (name) => nodeRedis(createClient5({ socket: { port }, name })),
  "ioredis 6 Cluster": (connectionName) => ioredis(new Cluster(nodes, { redisOptions: { connectionName } })),
  "ioredis 5 Cluster": (connectionName) => ioredis(new Cluster5(nodes, { redisOptions: { connectionName } })),
  "node-redis 6 Cluster": (name) => nodeRedis(createCluster({ rootNodes, defaults: { name } })),
  "node-redis 5 Cluster": (name) => nodeRedis(createCluster5({ rootNodes, defaults: { name } })),
};

function ioredis(client: { disconnect(): void }): Opened {
  return { client, close: () => client.disconnect() };
}

function nodeRedis(client: { connect(): Promise<unknown>; destroy(): void }): Opened {
  return { client, connect: () => client.connect(), close: () => client.destroy() };
}

describe.each(Object.keys(clients))("on %s", (name) => {
  const clientName = `t-${crypto.randomUUID()}`;
  const opened = clients[name]?.(clientName) as Opened;
  /** Another hand: it does as redis-cli would. */
  const cli = name.includes("Cluster") ? new Cluster(nodes) : new Redis(port);
  const servers = (name.includes("Cluster") ? clusterPorts : [port]).map((at) => new Redis(at));

  let prefix: string;
  let directory: RedisDirectory;
  let seen: Picture;

  beforeAll(() => opened.connect?.());
  afterAll(() => {
    opened.close();
    for (const each of [cli, ...servers]) each.disconnect();
  });
  beforeEach(async () => {
    prefix = `t:${crypto.randomUUID()}`;
    directory = redisDirectory({ client: opened.client, prefix });
    seen = pictureOf(directory);
    await directory.ready;
  });
  afterEach(() => directory.close());

  it("SET, EXPIRE, PERSIST, SET EX and DEL by another hand hold within a second", async () => {
    const key = `${prefix}:safelist:203.0.113.7`;
    const entry = (): ListEntry | undefined => seen.safelist.get("203.0.113.7");

    await cli.set(key, '{"who":"ann","why":"office"}');
    await soon("SET", () => entry() !== undefined);
    expect(entry()).toEqual({ address: "203.0.113.7", who: "ann", why: "office" });

    await cli.expire(key, 100);
    await soon("EXPIRE", () => Math.abs((entry()?.until ?? 0) - Date.now() - 100_000) < 2000);

    await cli.persist(key);
    await soon("PERSIST", () => entry() !== undefined && entry()?.until === undefined);

    await cli.set(key, "", "EX", 50);
    await soon("SET EX", () => Math.abs((entry()?.until ?? 0) - Date.now() - 50_000) < 2000);
    expect(entry()?.who).toBeUndefined();

    await cli.del(key);
    await soon("DEL", () => entry() === undefined);
  });

  it("HSET, HDEL, SET and DEL of a customer are told within a second, and then read", async () => {
    const told = async (what: string, act: () => Promise<unknown>) => {
      const before = seen.customers.length;
      await act();
      await soon(what, () => seen.customers.slice(before).includes("42"));
      return directory.customer("42");
    };
    const limits = `${prefix}:customer:42:limits`;
    const tier = `${prefix}:customer:42:tier`;
    expect(await directory.customer("42")).toBeUndefined();
    expect(await told("SET", () => cli.set(tier, "pro"))).toEqual({ tier: "pro" });
    expect(await told("HSET", () => cli.hset(limits, { 60: 100, 3600: 1000 }))).toEqual({
      tier: "pro",
      limits: new Map([
        [60, 100],
        [3600, 1000],
      ]),
    });
    expect(await told("HDEL", () => cli.hdel(limits, "60"))).toEqual({
      tier: "pro",
      limits: new Map([[3600, 1000]]),
    });
    expect(await told("DEL", () => cli.del(tier))).toEqual({ limits: new Map([[3600, 1000]]) });
  });

  it("an entry that expires by itself says so in advance, and is gone from the list", async () => {
    await cli.set(`${prefix}:blocklist:2001:db8::/32`, "1", "PX", 300);
    await soon("the entry", () => seen.blocklist.has("2001:db8::/32"));
    expect(seen.blocklist.get("2001:db8::/32")?.until).toBeLessThanOrEqual(Date.now() + 300);
    await until("its end", async () => (await directory.entries("blocklist")).length === 0);
  });

  it("what is put is told at once, has its end as TTL, is seen by others, and can be removed", async () => {
    const other = redisDirectory({ client: opened.client, prefix });
    const theirs = pictureOf(other);
    const entry = { address: "45.0.186.198", who: "bo", why: "scan", until: Date.now() + 604_800_000 };
    await directory.put("blocklist", entry);
    expect(seen.blocklist.get("45.0.186.198")).toEqual(entry);
    expect(Math.abs((await cli.ttl(`${prefix}:blocklist:45.0.186.198`)) - 604_800)).toBeLessThanOrEqual(1);
    await soon("the other to see it", () => theirs.blocklist.has("45.0.186.198"));
    expect((await other.entries("blocklist")).map(({ who, why }) => [who, why])).toEqual([["bo", "scan"]]);

    await directory.put("blocklist", { address: "45.0.186.198" });
    expect(await cli.ttl(`${prefix}:blocklist:45.0.186.198`)).toBe(-1);

    expect(await directory.remove("blocklist", "45.0.186.198")).toBe(true);
    // What was heard of the put before may come after it, and is itself followed by the truth.
    await soon("it to be gone here", () => seen.blocklist.size === 0);
    expect(await directory.remove("blocklist", "45.0.186.198")).toBe(false);
    await soon("the other to see it gone", () => theirs.blocklist.size === 0);
    expect(await cli.scard(`${prefix}:blocklist`)).toBe(0);
    other.close();
  });

  it("a customer put is replaced wholly, has no TTL, and an empty record removes it", async () => {
    await directory.putCustomer("7", { tier: "free", limits: new Map([[60, 1]]) });
    expect(seen.customers).toContain("7");
    await directory.putCustomer("7", { tier: "pro", limits: new Map([[3600, 5]]) });
    expect(await directory.customer("7")).toEqual({ tier: "pro", limits: new Map([[3600, 5]]) });
    expect(await cli.ttl(`${prefix}:customer:7:tier`)).toBe(-1);
    expect(await cli.ttl(`${prefix}:customer:7:limits`)).toBe(-1);
    expect(await cli.hgetall(`${prefix}:customer:7:limits`)).toEqual({ 3600: "5" });
    await directory.putCustomer("7", {});
    expect(await directory.customer("7")).toBeUndefined();
    expect(await cli.exists(`${prefix}:customer:7:tier`)).toBe(0);
    expect(await cli.exists(`${prefix}:customer:7:limits`)).toBe(0);
  });

  it("entries made and removed while nobody watched are found, whether an index names them or not", async () => {
    await directory.put("safelist", { address: "192.0.2.1" });
    await directory.put("safelist", { address: "192.0.2.2" });
    directory.close();
    await cli.del(`${prefix}:safelist:192.0.2.1`);
    await cli.set(`${prefix}:safelist:192.0.2.3`, "");
    const later = redisDirectory({ client: opened.client, prefix });
    const addresses = async () => (await later.entries("safelist")).map(({ address }) => address).sort();
    expect(await addresses()).toEqual(["192.0.2.2", "192.0.2.3"]);
    const picture = pictureOf(later);
    await later.ready;
    expect([...picture.safelist.keys()].sort()).toEqual(["192.0.2.2", "192.0.2.3"]);
    await until("the index to be right", async () => {
      const named = await cli.smembers(`${prefix}:safelist`);
      return named.sort().join() === "192.0.2.2,192.0.2.3";
    });
    later.close();
  });

  it("changes hold within a second though the connection that hears of them was killed", async () => {
    await cli.set(`${prefix}:safelist:192.0.2.1`, "");
    await soon("the first", () => seen.safelist.has("192.0.2.1"));
    expect(await killListeners()).toBe(servers.length);
    await cli.set(`${prefix}:safelist:192.0.2.2`, "");
    await cli.del(`${prefix}:safelist:192.0.2.1`);
    await soon("both changes", () => [...seen.safelist.keys()].join() === "192.0.2.2");
    await soon("the customers to be forgotten", () => seen.customers.includes(undefined));
    await until("new connections", async () => (await listeners()).length === servers.length);
    await cli.del(`${prefix}:safelist:192.0.2.2`);
    await soon("a later change", () => seen.safelist.size === 0);
  });

  it("closed, it leaves no connection behind, and the client open", async () => {
    directory.close();
    await until("the connections to end", async () => (await listeners()).length === 0);
    expect(await directory.entries("safelist")).toEqual([]);
  });

  async function listeners(): Promise<{ server: Redis; id: string }[]> {
    const found = servers.map(async (server) => {
      const lines = String(await server.call("CLIENT", "LIST", "TYPE", "PUBSUB")).split("\n");
      return lines
        .filter((line) => line.includes(`name=${clientName}`) && /flags=\S*t/.test(line))
        .map((line) => ({ server, id: /^id=(\d+)/.exec(line)?.[1] as string }));
    });
    return (await Promise.all(found)).flat();
  }

  async function killListeners(): Promise<number> {
    const found = await listeners();
    for (const { server, id } of found) await server.call("CLIENT", "KILL", "ID", id);
    return found.length;
  }
});
