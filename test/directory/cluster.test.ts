import { createCluster } from "@redis/client";
import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5 } from "ioredis5";
import { createCluster as createCluster5 } from "redis-client5";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type RedisDirectory,
  redisDirectory,
} from "../../packages/tidegate/src/stores/redis/directory/redis-directory.js";
import { uniquePrefix, until } from "../faults/support.js";
import { type ChildServer, type RedisCluster, startRedisCluster } from "../servers/index.js";
import { type Picture, pictureOf, soon } from "./support.js";

interface Opened {
  readonly client: object;
  close(): void;
}

const clients: Record<string, (ports: readonly number[]) => Opened | Promise<Opened>> = {
  "ioredis 6": (ports) => ioredis(new Cluster(ports.map(node))),
  "ioredis 6, reading from replicas": (ports) =>
    ioredis(new Cluster(ports.map(node), { scaleReads: "slave" })),
  "ioredis 5": (ports) => ioredis(new Cluster5(ports.map(node))),
  "node-redis 6": (ports) => nodeRedis(createCluster({ rootNodes: ports.map(rootNode) })),
  "node-redis 5": (ports) => nodeRedis(createCluster5({ rootNodes: ports.map(rootNode) })),
};

const node = (port: number) => ({ host: "127.0.0.1", port });
const rootNode = (port: number) => ({ url: `redis://127.0.0.1:${port}` });

function ioredis(client: { on(event: "error", l: () => void): unknown; disconnect(): void }): Opened {
  client.on("error", () => {});
  return { client, close: () => client.disconnect() };
}

async function nodeRedis(client: {
  on(event: "error", l: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}): Promise<Opened> {
  client.on("error", () => {});
  await client.connect();
  return { client, close: () => client.destroy() };
}

/** Addresses enough that every master has some. */
const addresses = Array.from({ length: 24 }, (_, i) => `192.0.2.${i}`);

describe("a cluster that changes", () => {
  let cluster: RedisCluster;
  let cli: Cluster;
  const watched: Record<
    string,
    { opened: Opened; directory: RedisDirectory; seen: Picture; prefix: string }
  > = {};

  beforeAll(async () => {
    cluster = await startRedisCluster({ masters: 3, replicasPerMaster: 1 });
    cli = new Cluster(cluster.ports.map(node));
    cli.on("error", () => {});
    for (const [name, open] of Object.entries(clients)) {
      const opened = await open(cluster.ports);
      const prefix = uniquePrefix();
      const directory = redisDirectory({ client: opened.client, prefix });
      watched[name] = { opened, directory, prefix, seen: pictureOf(directory) };
      await directory.ready;
    }
  });
  afterAll(async () => {
    for (const { opened, directory } of Object.values(watched)) {
      directory.close();
      opened.close();
    }
    cli?.disconnect();
    await cluster?.stop();
  });
  afterEach(async () => {
    for (const { prefix, seen } of Object.values(watched)) {
      for (const address of addresses) await cli.del(`${prefix}:blocklist:${address}`);
      await until("a clean list", async () => seen.blocklist.size === 0);
    }
  });

  const everyEntryArrives = async ({ seen, prefix }: { seen: Picture; prefix: string }) => {
    for (const address of addresses) await cli.set(`${prefix}:blocklist:${address}`, "");
    await soon("all entries", () => seen.blocklist.size === addresses.length);
  };

  it("slots moved to another master, empty ones too, are followed there", async () => {
    const [from, to] = [cluster.nodes[0], cluster.nodes[1]] as [ChildServer, ChildServer];
    await moveSlots(from, to, cluster.nodes, 0, 999);
    for (const each of Object.values(watched)) await everyEntryArrives(each);
  });

  it("a replica that took over is listened to, and what changed meanwhile is read", async () => {
    const dying = cluster.nodes[0] as ChildServer;
    await dying.kill();
    await until("the cluster to be whole again", async () => {
      const info = await ask(cluster.nodes[1] as ChildServer, (redis) => redis.cluster("INFO"));
      return String(info).includes("cluster_state:ok") && (await canWriteEverywhere());
    });
    for (const { prefix } of Object.values(watched)) {
      for (const address of addresses) await cli.set(`${prefix}:blocklist:${address}`, "");
    }
    for (const [name, { seen }] of Object.entries(watched)) {
      await until(`${name} to know all`, async () => seen.blocklist.size === addresses.length);
    }
    for (const { seen, prefix } of Object.values(watched)) {
      for (const address of addresses) await cli.del(`${prefix}:blocklist:${address}`);
      await soon("all to be gone", () => seen.blocklist.size === 0);
    }
  }, 60_000);

  async function canWriteEverywhere(): Promise<boolean> {
    const writes = addresses.map((address) => cli.set(`probe:${address}`, ""));
    return (await Promise.allSettled(writes)).every(({ status }) => status === "fulfilled");
  }
});

/** Empty slots change hands by a word to everybody. */
async function moveSlots(
  from: ChildServer,
  to: ChildServer,
  all: readonly ChildServer[],
  first: number,
  last: number,
): Promise<void> {
  const id = String(await ask(to, (redis) => redis.cluster("MYID")));
  for (const server of [to, from, ...all.filter((each) => each !== from && each !== to)]) {
    await ask(server, async (redis) => {
      for (let slot = first; slot <= last; slot++) {
        await redis.cluster("SETSLOT", slot, "NODE", id).catch((error: Error) => {
          if (!error.message.includes("only with masters")) throw error;
        });
      }
    });
  }
  expect(String(await ask(from, (redis) => redis.cluster("NODES")))).toContain(id);
}

async function ask<T>(server: ChildServer, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(server.port);
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
