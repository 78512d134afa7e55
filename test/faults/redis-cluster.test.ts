import { Cluster } from "ioredis";
import { type Check, fixedWindow, type Verdict } from "tidegate";
import { redisStore } from "tidegate/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type ChildServer } from "../servers/child-server.js";
import { type RedisCluster, startRedisCluster } from "../servers/index.js";
import { uniquePrefix, until } from "./support.js";

const limit = fixedWindow({ limit: 100, window: "400d" });
const check = (key: string, changes: Partial<Check> = {}): Check => ({ rule: "r", key, limit, ...changes });

describe("a cluster of which one master fails", () => {
  let cluster: RedisCluster;
  let client: Cluster;
  /** One key on each master. */
  let keys: [string, string, string];

  beforeAll(async () => {
    cluster = await startRedisCluster({ args: ["--cluster-node-timeout", "60000"] });
    client = new Cluster(cluster.ports.map((port) => ({ host: "127.0.0.1", port })));
    client.on("error", () => {});
    keys = (await Promise.all([0, 1, 2].map(keyOn))) as typeof keys;
  });
  afterAll(async () => {
    client.disconnect();
    await cluster.stop();
  });

  async function keyOn(master: number): Promise<string> {
    for (let i = 0; ; i++) {
      const slot = Number((await ask(cluster.ports[0] as number, `CLUSTER KEYSLOT k${i}\r\n`)).slice(1));
      if (Math.floor((slot * 3) / 16_384) === master) return `k${i}`;
    }
  }

  const master = (i: number) => cluster.nodes[i] as ChildServer;

  it("a decision over two masters of which one hangs fails in time, and what the other charged is given back", async () => {
    const store = redisStore({ client, prefix: uniquePrefix() });
    const both = [check(keys[0]), check(keys[1])];
    await store.decide(both);
    master(1).freeze();
    try {
      for (let i = 0; i < 3; i++)
        await expect(store.decide(both, { deadlineMs: 100 })).rejects.toMatchObject({ transient: true });
    } finally {
      master(1).thaw();
    }
    await until("what was charged to be given back", async () => {
      const verdicts = await store.peek(both);
      return verdicts.every(({ remaining }) => remaining === 99);
    });
  });

  it("a refusal is answered in time though the master that must take something back hangs, and it is given back later", async () => {
    let sent = 0;
    const hanging = {
      isCluster: true,
      on: () => {},
      nodes: () => [],
      callBuffer(...args: [string, ...string[]]) {
        if (args[0] === "EVALSHA" && ++sent === 3) master(0).freeze();
        return client.callBuffer(...args);
      },
    };
    const prefix = uniquePrefix();
    const store = redisStore({ client: hanging, prefix });
    const closed = check(keys[1], { limit: fixedWindow({ limit: 0, window: "1h" }) });
    const began = performance.now();
    try {
      const [open, refused] = (await store.decide([check(keys[0]), closed], { deadlineMs: 200 })) as [
        Verdict,
        Verdict,
      ];
      expect(open.allowed).toBe(true);
      expect(refused.allowed).toBe(false);
      expect(performance.now() - began).toBeLessThan(5000);
      expect(sent).toBe(3);
    } finally {
      master(0).thaw();
    }
    const other = redisStore({ client, prefix });
    await until("the charge to be given back", async () => {
      const [verdict] = await other.peek([check(keys[0])]);
      return verdict?.remaining === 100;
    });
  });

  it("keys of the other masters go on being counted", async () => {
    const store = redisStore({ client, prefix: uniquePrefix() });
    await store.decide([check(keys[0]), check(keys[2])]);
    master(1).freeze();
    try {
      const verdicts = await store.decide([check(keys[0]), check(keys[2])], { deadlineMs: 5000 });
      expect(verdicts.map(({ remaining }) => remaining)).toEqual([98, 98]);
    } finally {
      master(1).thaw();
    }
  });
});
