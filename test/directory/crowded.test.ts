import { Redis } from "ioredis";
import { fixedWindow } from "tidegate";
import { redisStore } from "tidegate/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layoutOf } from "../../packages/tidegate/src/stores/redis/directory/layout.js";
import { mastersOf } from "../../packages/tidegate/src/stores/redis/directory/masters.js";
import {
  type RedisDirectory,
  redisDirectory,
} from "../../packages/tidegate/src/stores/redis/directory/redis-directory.js";
import { trackMasters } from "../../packages/tidegate/src/stores/redis/directory/tracking.js";
import { until } from "../faults/support.js";
import { type ChildServer, startRedis } from "../servers/index.js";
import { type Picture, pictureOf, soon } from "./support.js";

describe("a Redis with a million live counters", () => {
  let server: ChildServer;
  let cli: Redis;
  let client: Redis;
  let directory: RedisDirectory;
  let seen: Picture;

  beforeAll(async () => {
    server = await startRedis({ args: ["--enable-debug-command", "yes"] });
    cli = new Redis(server.port);
    client = new Redis(server.port);
    await cli.call("DEBUG", "POPULATE", "1000000", "tg:{k", "24");
    directory = redisDirectory({ client });
    seen = pictureOf(directory);
    await directory.ready;
  });
  afterAll(async () => {
    directory.close();
    cli.disconnect();
    client.disconnect();
    await server.stop();
  });

  it("SET, EXPIRE, DEL, HSET and natural expiry hold within a second", async () => {
    await cli.set("tg:blocklist:192.0.2.1", "");
    await soon("SET", () => seen.blocklist.has("192.0.2.1"));
    await cli.expire("tg:blocklist:192.0.2.1", 100);
    await soon("EXPIRE", () => seen.blocklist.get("192.0.2.1")?.until !== undefined);
    await cli.del("tg:blocklist:192.0.2.1");
    await soon("DEL", () => seen.blocklist.size === 0);
    await cli.hset("tg:customer:3:limits", 60, 100);
    await soon("HSET", () => seen.customers.includes("3"));
    await cli.set("tg:safelist:192.0.2.9", "", "PX", 50);
    await soon(
      "its end",
      () => (seen.safelist.get("192.0.2.9")?.until ?? Number.POSITIVE_INFINITY) < Date.now(),
    );
  });

  it("a change in the very moment the connection is killed holds within a second, though only a search can find it", async () => {
    // On a machine so busy that looking at all keys once takes longer than that, within three such looks.
    const withinMs = Math.max(1000, 3 * (await searchMs()));
    await cli.multi().call("CLIENT", "KILL", "TYPE", "pubsub").set("tg:safelist:192.0.2.1", "").exec();
    await until("the change", async () => seen.safelist.has("192.0.2.1"), withinMs);
  });

  async function searchMs(): Promise<number> {
    const began = performance.now();
    let cursor = "0";
    do [cursor] = await cli.scan(cursor, "MATCH", "tg:[sb]*", "COUNT", 5000);
    while (cursor !== "0");
    return performance.now() - began;
  }

  it("what was found once is known at once ever after: the index names it", async () => {
    await cli.set("tg:safelist:192.0.2.1", "");
    await soon(
      "the entry to be indexed",
      async () => (await cli.sismember("tg:safelist", "192.0.2.1")) === 1,
    );
    const later = redisDirectory({ client });
    const theirs = pictureOf(later);
    await soon("the first reset", () => theirs.resets > 0);
    expect([...theirs.safelist.keys()]).toEqual(["192.0.2.1"]);
    later.close();
  });

  it("FLUSHDB holds within a second", async () => {
    await cli.set("tg:safelist:192.0.2.77", "");
    await soon("SET", () => seen.safelist.has("192.0.2.77"));
    const forgotten = seen.customers.length;
    await cli.flushdb();
    await soon("FLUSHDB", () => seen.safelist.size === 0);
    expect(seen.customers.slice(forgotten)).toContain(undefined);
  });
});

describe("counters", () => {
  it("are never pushed: thousands of decisions bring not one message", async () => {
    const server = await startRedis();
    const client = new Redis(server.port);
    const heard: string[] = [];
    let arm: () => void = () => {};
    const armed = new Promise<void>((resolve) => {
      arm = resolve;
    });
    const tracking = trackMasters(mastersOf(client), layoutOf("tg", {}).prefixes, 1000, {
      armed: arm,
      changed: (keys) => heard.push(...keys),
      flushed: () => heard.push("everything"),
      failing: (error) => heard.push(String(error)),
    });
    try {
      await armed;
      const store = redisStore({ client });
      const limit = fixedWindow({ limit: 10, window: "1m" });
      const decisions = Array.from({ length: 2000 }, (_, i) =>
        store.decide([{ rule: "safelist", key: `k${i}`, limit }], { deadlineMs: 10_000 }),
      );
      await Promise.all(decisions);
      expect(await client.dbsize()).toBe(2000);
      await client.set("tg:safelist:192.0.2.1", "");
      await soon("the one message", () => heard.length > 0);
      expect(heard).toEqual(["tg:safelist:192.0.2.1"]);
    } finally {
      tracking.stop();
      client.disconnect();
      await server.stop();
    }
  });
});
