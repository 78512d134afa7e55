import { setTimeout as sleep } from "node:timers/promises";
import { createClient, createCluster } from "@redis/client";
import type { Directory } from "tidegate";
import { redisStore } from "tidegate/redis";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import { soon } from "../directory/support.js";
import { faultProxy, startRedis } from "../servers/index.js";
import { mostSessions } from "./data-access-contract.js";
import { dataContract, mostAudit } from "./data-contract.js";
import { mostOffenders } from "./data-control-contract.js";

/** Of a client of either kind, what is needed here. */
interface Client {
  connect(): Promise<unknown>;
  on(event: "error", listener: () => void): unknown;
  destroy(): void;
}

const commandOptions = { timeout: 0 };
const clients: Client[] = [];
const prefixes = new WeakMap<Data, string>();

async function connected<C extends Client>(client: C): Promise<C> {
  clients.push(client);
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function open(client: Client, prefix = `t:${crypto.randomUUID()}`): Promise<Data> {
  const directory = redisStore({ client, prefix }).openDirectory?.() as Directory;
  const data = await openRedisData({ client, prefix, directory, mostAudit, mostOffenders, mostSessions });
  prefixes.set(data, prefix);
  return data;
}

let single: ReturnType<typeof createClient>;
let cluster: Client;
beforeAll(async () => {
  single = await connected(createClient({ socket: { port: inject("redisPort") }, commandOptions }));
  const rootNodes = inject("redisClusterPorts").map((port) => ({ socket: { host: "127.0.0.1", port } }));
  cluster = await connected(createCluster({ rootNodes, commandOptions }));
});
afterAll(() => {
  for (const client of clients) client.destroy();
});

dataContract("data in Redis", {
  open: () => open(single),
  again: (data) => open(single, prefixes.get(data)),
  isShared: true,
});

dataContract("data in a Redis Cluster", {
  open: () => open(cluster),
  again: (data) => open(cluster, prefixes.get(data)),
  isShared: true,
});

describe("data in Redis", () => {
  const draft = { text: "a", who: "ann", source: "api" } as const;

  it("tells of versions another process added, within a second", async () => {
    const one = await open(single);
    const other = await open(single, prefixes.get(one));
    const heard: number[] = [];
    one.policies.watch(({ id }) => heard.push(id));
    await sleep(20);
    await other.policies.add(draft, undefined);
    await soon("the first", () => heard.at(-1) === 1);
    await other.policies.add(draft, 1);
    await soon("the second", () => heard.at(-1) === 2);
    expect(heard).toEqual([1, 2]);
    await one.close();
    await other.policies.add(draft, 2);
    await sleep(700);
    expect(heard).toEqual([1, 2]);
    await other.close();
  });

  it("keeps all its keys below the prefix, where a user with rights to no others may reach them", async () => {
    const data = await open(single);
    await data.policies.add(draft, undefined);
    await data.audit.add({ who: "ann", what: "x" });
    await data.pending.add({ customer: "c" });
    const prefix = prefixes.get(data) as string;
    const keys = await single.keys(`${prefix}:*`);
    expect(keys.toSorted()).toEqual(
      ["audit", "audit:last", "pending", "pending:last", "policy:versions"].map(
        (name) => `${prefix}:${name}`,
      ),
    );
    await data.close();
  });

  it("sits an outage out: it is told once, writes fail with a code, and news come when Redis is back", async () => {
    const redis = await startRedis();
    const proxy = await faultProxy(redis.port);
    try {
      const client = await connected(
        createClient({
          socket: { port: proxy.port, reconnectStrategy: 50 },
          disableOfflineQueue: true,
          commandOptions,
        }),
      );
      const errors: unknown[] = [];
      const prefix = "t";
      const directory = redisStore({ client, prefix }).openDirectory?.() as Directory;
      const data = await openRedisData({ client, prefix, directory, onError: (error) => errors.push(error) });
      const heard: number[] = [];
      data.policies.watch(({ id }) => heard.push(id));
      await data.policies.add(draft, undefined);
      await proxy.refuse(true);
      proxy.cut();
      await expect(data.policies.add(draft, 1)).rejects.toMatchObject({ code: "TG_DATA_UNREACHABLE" });
      for (const ask of [
        () => data.audit.add({ who: "ann", what: "x" }),
        () => data.directory.entries("blocklist"),
        () => data.directory.put("blocklist", { address: "203.0.113.7" }),
        () => data.directory.remove("blocklist", "203.0.113.7"),
        () => data.directory.customer("acme"),
        () => data.directory.putCustomer("acme", { tier: "pro" }),
      ])
        await expect(ask()).rejects.toMatchObject({ code: "TG_DATA_UNREACHABLE" });
      await soon("the outage to be told", () => errors.length > 0);
      await sleep(1_200);
      expect(errors).toHaveLength(1);
      const direct = await connected(createClient({ socket: { port: redis.port }, commandOptions }));
      await (await open(direct, prefix)).policies.add({ ...draft, text: "b" }, 1);
      await proxy.refuse(false);
      await soon("the version added meanwhile", () => heard.at(-1) === 2);
      await data.close();
    } finally {
      await proxy.stop();
      await redis.stop();
    }
  });

  it("does not wait for ever for a Redis that hangs", async () => {
    const redis = await startRedis();
    try {
      const client = await connected(createClient({ socket: { port: redis.port }, commandOptions }));
      const data = await openRedisData({ client, prefix: "t", directory: (await open(single)).directory });
      redis.freeze();
      await expect(data.policies.newest()).rejects.toMatchObject({ code: "TG_DATA_UNREACHABLE" });
      redis.thaw();
      expect(await data.policies.newest()).toBeUndefined();
    } finally {
      await redis.stop();
    }
  });

  it("follows others who began again after Redis was emptied", async () => {
    const redis = await startRedis();
    try {
      const client = await connected(
        createClient({ socket: { port: redis.port, reconnectStrategy: 50 }, commandOptions }),
      );
      const data = await open(client, "t");
      const other = await open(client, "t");
      const heard: string[] = [];
      data.policies.watch(({ id, text }) => heard.push(`${id} ${text}`));
      await data.policies.add(draft, undefined);
      await data.policies.add(draft, 1);
      await redis.restart();
      await soon("Redis", () => client.isReady);
      expect(await data.policies.newest()).toBeUndefined();
      expect(await data.policies.add(draft, 2)).toBeUndefined();
      await other.policies.add({ ...draft, text: "anew" }, undefined);
      await soon("the new first", () => heard.at(-1) === "1 anew");
      await data.close();
      await other.close();
    } finally {
      await redis.stop();
    }
  });

  it("explains what others wrote over it, and gives no number twice when its counters are lost", async () => {
    const data = await open(single);
    const prefix = prefixes.get(data) as string;
    await data.policies.add(draft, undefined);
    for (const text of ["nonsense", "null", '"text"']) {
      await single.hSet(`${prefix}:policy:versions`, "1", text);
      await expect(data.policies.newest()).rejects.toMatchObject({ code: "TG_DATA_CORRUPT" });
      await expect(data.policies.list()).rejects.toMatchObject({ code: "TG_DATA_CORRUPT" });
    }
    for (const target of ["1", "2", "3"]) await data.audit.add({ who: "ann", what: "x", target });
    const pending = await data.pending.add({ customer: "a" });
    await single.del([`${prefix}:audit:last`, `${prefix}:pending:last`]);
    const entry = await data.audit.add({ who: "ann", what: "x", target: "4" });
    expect((await data.audit.list()).map(({ target }) => target)).toEqual(["4", "3", "2", "1"]);
    expect((await data.audit.add({ who: "ann", what: "x" })).id).toBe(entry.id + 1);
    expect((await data.pending.add({ customer: "b" })).id).toBeGreaterThan(pending.id);
    await single.xAdd(`${prefix}:audit`, "*", { entry: "{}" });
    await expect(data.audit.add({ who: "ann", what: "x" })).rejects.toMatchObject({
      code: "TG_DATA_CORRUPT",
    });
    await data.close();
  });
});
