import { createHash, randomUUID } from "node:crypto";
import { createClient } from "@redis/client";
import { Cluster, Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { createClient as createClient5 } from "redis-client5";
import { ConfigError, createLimiter, fixedWindow } from "tidegate";
import { earrrlCompat, earrrlScript, passOrExceeded, printedLayout } from "tidegate/presets";
import { type RedisClient, redisStore } from "tidegate/redis";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { redisDirectory } from "../../packages/tidegate/src/stores/redis/directory/redis-directory.js";
import { startRedis } from "../servers/index.js";
import { printedFixedWindow } from "./printed-scripts.js";

const printedSha = "cb3696c74cc51596d07646e64a17f5f2db510adb";
const lambda = Math.LN2 / 10;

let redis: Redis;
const opened: (() => unknown)[] = [];
beforeAll(() => {
  redis = new Redis(inject("redisPort"));
  opened.push(() => redis.disconnect());
});
afterAll(async () => {
  for (const close of opened) await close();
});

const someone = () => `user-${randomUUID()}`;

describe("S0", () => {
  it("A16, A26, A29: the printed layout is where lists, tiers and overrides are written and read", async () => {
    const server = await startRedis();
    const client = new Redis(server.port);
    const directory = redisDirectory({ client, templates: printedLayout });
    try {
      await directory.put("blocklist", { address: "45.0.186.198", until: Date.now() + 604_800_000 });
      await directory.put("safelist", { address: "102.232.240.209" });
      await directory.putCustomer("3", { tier: "pro", limits: new Map([[60, 100]]) });
      expect(await client.type("blocklist:45.0.186.198")).toBe("string");
      expect(Math.abs((await client.ttl("blocklist:45.0.186.198")) - 604_800)).toBeLessThanOrEqual(1);
      expect(await client.exists("safelist:102.232.240.209")).toBe(1);
      expect([await client.get("customer:3:tier_redis"), await client.ttl("customer:3:tier_redis")]).toEqual([
        "pro",
        -1,
      ]);
      await client.hset("customer:3:throttle_hash", { 3600: 1000 });
      expect((await directory.customer("3"))?.limits).toEqual(
        new Map([
          [60, 100],
          [3600, 1000],
        ]),
      );
    } finally {
      await directory.close?.();
      client.disconnect();
      await server.stop();
    }
  });
});

describe("S1", () => {
  it("B7: seven calls get the very words of the printed script, one after the other", async () => {
    const limit = fixedWindow({ limit: 5, window: "60s", align: "first-hit", countRefused: true });
    const store = redisStore({ client: redis, prefix: someone() });
    const ask = passOrExceeded(createLimiter({ name: "products", limit, store, deadlineMs: 15_000 }));
    const key = someone();
    const words: [unknown, unknown][] = [];
    for (let i = 0; i < 7; i++)
      words.push([await redis.eval(printedFixedWindow, 1, key), await ask("products")]);
    for (const [printed, ours] of words) expect(ours).toBe(printed);
    expect(words.map(([, ours]) => ours)).toEqual([
      ...Array(5).fill("pass"),
      ...Array(2).fill("exceeded limit"),
    ]);
  });
});

/** The clients people have, each on a server of its own, which knows no script yet. */
const clients: Record<string, (port: number) => Promise<[RedisClient, close: () => unknown]>> = {
  "ioredis 6": async (port) => {
    const client = new Redis(port);
    return [client, () => client.disconnect()];
  },
  "ioredis 5": async (port) => {
    const client = new Redis5(port);
    return [client, () => client.disconnect()];
  },
  "node-redis 6": async (port) => {
    const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
    return [client, () => client.destroy()];
  },
  "node-redis 5": async (port) => {
    const client = await createClient5({ url: `redis://127.0.0.1:${port}` }).connect();
    return [client, () => client.destroy()];
  },
};

describe("S4", () => {
  it("E22: the script has the printed SHA, here and after SCRIPT LOAD", async () => {
    expect(createHash("sha1").update(earrrlScript).digest("hex")).toBe(printedSha);
    expect(await redis.script("LOAD", earrrlScript)).toBe(printedSha);
  });

  describe.each(Object.keys(clients))("through %s", (name) => {
    it("E19, E20, E21: replies nil and the estimate as text until the limit is exceeded, then 1; keys are <key>:N and <key>:T", async () => {
      const server = await startRedis();
      const [client, close] = await (clients[name] as (typeof clients)[string])(server.port);
      const direct = new Redis(server.port);
      try {
        const hit = earrrlCompat({ client });
        expect(await hit("user_key_321")).toEqual([null, "0"]);
        expect(await direct.keys("*").then((keys) => keys.sort())).toEqual([
          "user_key_321:N",
          "user_key_321:T",
        ]);
        expect(await direct.get("user_key_321:N")).toBe("1");
        expect(await direct.script("EXISTS", printedSha)).toEqual([1]);
        const replies = [];
        for (let i = 0; i < 20; i++) replies.push(await hit("user_key_321"));
        for (const [limited, estimate] of replies) {
          expect(typeof estimate).toBe("string");
          expect(limited).toBe(Number(estimate) > 0.5 ? 1 : null);
        }
        expect(replies[0]?.[0]).toBeNull();
        expect(replies.at(-1)?.[0]).toBe(1);
        await direct.script("FLUSH");
        expect((await hit("user_key_321"))[0]).toBe(1);
      } finally {
        direct.disconnect();
        await close();
        await server.stop();
      }
    });
  });

  it("E21: what EVALSHA replies to anyone else, it replies here: both count on", async () => {
    const [user, hit] = [someone(), earrrlCompat({ client: redis })];
    await redis.script("LOAD", earrrlScript);
    expect(await redis.evalsha(printedSha, 1, user)).toEqual([null, "0"]);
    const [limited, estimate] = await hit(user);
    expect(limited).toBeNull();
    expect(Number(estimate)).toBeGreaterThan(0);
    expect(Number(estimate)).toBeLessThanOrEqual(lambda);
    await redis.del(`${user}:N`, `${user}:T`);
  });

  it("W19: on a cluster a key with a hash tag works, and one without is an error, not an answer", async () => {
    const cluster = new Cluster(inject("redisClusterPorts").map((port) => ({ host: "127.0.0.1", port })));
    opened.push(() => cluster.disconnect());
    const hit = earrrlCompat({ client: cluster });
    const user = `{${someone()}}`;
    expect(await hit(user)).toEqual([null, "0"]);
    await cluster.del(`${user}:N`, `${user}:T`);
    await expect(hit(await spread(cluster))).rejects.toThrow();
  });

  /** Somebody whose two keys lie on another master than their own name: without a hash tag, most do. */
  async function spread(cluster: Cluster): Promise<string> {
    const third = 16_384 / 3;
    for (;;) {
      const user = someone();
      const slots = await Promise.all([user, `${user}:N`].map((key) => cluster.cluster("KEYSLOT", key)));
      if (Math.floor(slots[0] / third) !== Math.floor(slots[1] / third)) return user;
    }
  }

  it("misuse is told: no client, an unknown option, an empty key", async () => {
    expect(() => earrrlCompat({ client: {} })).toThrow(ConfigError);
    expect(() => earrrlCompat({ client: redis, halfLife: 5 } as never)).toThrow("TG_OPTION_UNKNOWN");
    await expect(earrrlCompat({ client: redis })("")).rejects.toThrow(TypeError);
  });
});
