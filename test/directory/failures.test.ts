import type { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import {
  type RedisDirectory,
  type RedisDirectoryOptions,
  redisDirectory,
} from "../../packages/tidegate/src/stores/redis/directory/redis-directory.js";
import { clients, ioredis, own, until } from "../faults/support.js";
import { faultProxy, freePort, startRedis } from "../servers/index.js";
import { pictureOf, soon } from "./support.js";

const opened: RedisDirectory[] = [];

afterEach(() => {
  for (const directory of opened.splice(0)) directory.close();
});

function open(client: object, options: Partial<RedisDirectoryOptions> = {}): RedisDirectory {
  const directory = redisDirectory({ client, ...options });
  opened.push(directory);
  return directory;
}

describe.each(Object.keys(clients))("on %s", (name) => {
  const connect = clients[name] as (port: number) => object;

  it("a Redis that is down at the start is waited for, said once, and then followed", async () => {
    const port = await freePort();
    const directory = open(connect(port));
    const seen = pictureOf(directory);
    await until("the failure to be told", async () => seen.failures.length > 0);
    expect(seen.failures).toMatchObject([{ code: "TG_STORE_UNREACHABLE" }]);
    await own(startRedis({ port }));
    const cli = ioredis(port);
    await cli.set("tg:safelist:192.0.2.1", "");
    await until("the list", async () => seen.safelist.has("192.0.2.1"));
    await directory.ready;
    await until("pushes", async () => directory.mode === "tracking");
    await cli.set("tg:safelist:192.0.2.2", "");
    await soon("a change", () => seen.safelist.has("192.0.2.2"));
  });

  it("while Redis is away what is known stays; when it is back the lists are what it holds", async () => {
    const server = await own(startRedis());
    const directory = open(connect(server.port));
    const seen = pictureOf(directory);
    const cli = ioredis(server.port);
    await cli.set("tg:safelist:192.0.2.1", "");
    await until("the entry", async () => seen.safelist.size === 1);
    await server.kill();
    await until("the loss to be told", async () => seen.failures.length > 0);
    expect(seen.safelist.size).toBe(1);
    await server.restart();
    await until("the empty list", async () => seen.safelist.size === 0);
    await cli.set("tg:safelist:192.0.2.2", "");
    await until("the new entry", async () => seen.safelist.has("192.0.2.2"));
  });

  it("a user who may not ask for pushes is served by looking, which is said once, until he may", async () => {
    const server = await own(startRedis());
    const cli = ioredis(server.port);
    await cli.call("ACL", "SETUSER", "default", "-client");
    const admin = ioredis(server.port);
    const directory = open(connect(server.port), { pollEvery: "50ms" });
    const seen = pictureOf(directory);
    await directory.ready;
    expect(directory.mode).toBe("polling");
    await cli.set("tg:safelist:192.0.2.1", "");
    await until("SET", async () => seen.safelist.has("192.0.2.1"));
    await cli.del("tg:safelist:192.0.2.1");
    await until("DEL", async () => seen.safelist.size === 0);
    const forgotten = seen.customers.length;
    await until("customers to be asked for again", async () => seen.customers.length > forgotten);
    expect(seen.failures).toMatchObject([{ code: "TG_DIRECTORY_POLLING" }]);
    await admin.call("ACL", "SETUSER", "default", "+client");
    await until("pushes", async () => directory.mode === "tracking");
    await cli.set("tg:safelist:192.0.2.2", "");
    await soon("SET", () => seen.safelist.has("192.0.2.2"));
  });
});

describe("connections", () => {
  it("one that died without a word is found out, and what was missed is read", async () => {
    const server = await own(startRedis());
    const proxy = await faultProxy(server.port);
    const cli = ioredis(server.port);
    const client = ioredis(proxy.port);
    const directory = open(client);
    const seen = pictureOf(directory);
    await directory.ready;
    proxy.swallowReplies(true);
    await cli.set("tg:safelist:192.0.2.1", "");
    const before = await listenerId(cli);
    await until("a new connection to be tried", async () => (await listenerId(cli)) !== before);
    proxy.swallowReplies(false);
    proxy.cut();
    await until("the change", async () => seen.safelist.has("192.0.2.1"));
    directory.close();
    client.disconnect();
    await proxy.stop();
  });

  it("a watcher that throws is told so, and the others hear all the same", async () => {
    const server = await own(startRedis());
    const directory = open(ioredis(server.port));
    const mistakes: unknown[] = [];
    const fail = () => {
      throw new Error("mine");
    };
    directory.watch({
      reset: fail,
      listed: fail,
      unlisted: fail,
      customerChanged: fail,
      failed: (error) => mistakes.push(error),
    });
    const seen = pictureOf(directory);
    await directory.ready;
    await directory.put("safelist", { address: "192.0.2.1" });
    expect(seen.safelist.size).toBe(1);
    expect(mistakes.length).toBeGreaterThan(0);
  });

  it("when the last watcher leaves, the connection goes; the next one brings it back", async () => {
    const server = await own(startRedis());
    const cli = ioredis(server.port);
    const directory = open(ioredis(server.port));
    const first = pictureOf(directory);
    const second = pictureOf(directory);
    await directory.ready;
    first.stop();
    expect(await listenerId(cli)).toBeDefined();
    second.stop();
    await soon("the connection to go", async () => (await listenerId(cli)) === undefined);
    await cli.set("tg:safelist:192.0.2.1", "");
    const third = pictureOf(directory);
    await soon("the list", () => third.safelist.has("192.0.2.1"));
    const fourth = pictureOf(directory);
    await soon("the list for another", () => fourth.safelist.has("192.0.2.1"));
  });
});

async function listenerId(cli: Redis): Promise<string | undefined> {
  const lines = String(await cli.call("CLIENT", "LIST", "TYPE", "PUBSUB"));
  return /^id=(\d+)/.exec(lines)?.[1];
}
