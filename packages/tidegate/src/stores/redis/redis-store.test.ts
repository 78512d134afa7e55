import { createClient, createCluster } from "@redis/client";
import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { createClient as createClient5, createCluster as createCluster5 } from "redis-client5";
import { afterAll, beforeAll, inject } from "vitest";
import { storeContract } from "../../testing/store-contract.js";
import type { RedisClient } from "./connection.js";
import { redisStore } from "./redis-store.js";

const port = inject("redisPort");
const clusterPorts = inject("redisClusterPorts");
const nodes = clusterPorts.map((at) => ({ host: "127.0.0.1", port: at }));
const rootNodes = clusterPorts.map((at) => ({ url: `redis://127.0.0.1:${at}` }));

/** Every client we say we take, opened once. */
const clients: Record<
  string,
  () => { client: RedisClient; connect?: () => Promise<unknown>; close: () => unknown }
> = {
  "ioredis 6": () => ioredis(new Redis(port)),
  "ioredis 5": () => ioredis(new Redis5(port)),
  "node-redis 6": () => nodeRedis(createClient({ socket: { port } })),
  "node-redis 5": () => nodeRedis(createClient5({ socket: { port } })),
  "ioredis 6 Cluster": () => ioredis(new Cluster(nodes)),
  "ioredis 5 Cluster": () => ioredis(new Cluster5(nodes)),
  "node-redis 6 Cluster": () => nodeRedis(createCluster({ rootNodes })),
  "node-redis 5 Cluster": () => nodeRedis(createCluster5({ rootNodes })),
};

function ioredis(client: { disconnect(): void }) {
  return { client, close: () => client.disconnect() };
}

function nodeRedis(client: { connect(): Promise<unknown>; destroy(): void }) {
  return { client, connect: () => client.connect(), close: () => client.destroy() };
}

for (const [name, open] of Object.entries(clients)) {
  let opened: ReturnType<typeof open>;
  beforeAll(async () => {
    opened = open();
    await opened.connect?.();
  });
  afterAll(() => opened.close());
  storeContract(`redisStore on ${name}`, {
    open: (clock) => redisStore({ client: opened.client, prefix: `t:${crypto.randomUUID()}`, clock }),
  });
}
