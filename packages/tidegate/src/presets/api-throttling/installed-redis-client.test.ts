import * as nodeRedis from "@redis/client";
import * as ioredis from "ioredis";
import { afterEach, describe, expect, it, vi } from "vitest";
import { freePort, startRedis } from "../../../../../test/servers/index.js";
import { fixedWindow } from "../../algorithms/fixed-window/fixed-window.js";
import { ConfigError } from "../../errors.js";
import { hourKeyStore } from "./hour-key-store.js";
import { installedRedisClient } from "./installed-redis-client.js";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const packages: Record<string, unknown> = { ioredis, redis: nodeRedis, "@redis/client": nodeRedis };

describe.each([["ioredis"], ["redis"], ["@redis/client"]])("with %s installed", (installed) => {
  it("calls fail or wait while nobody listens, nothing else is harmed, and they count once somebody does", async () => {
    const port = await freePort();
    const { client, close } = installedRedisClient({ host: "127.0.0.1", port }, (name) =>
      name === installed ? packages[name] : undefined,
    );
    opened.push(close);
    const store = hourKeyStore(client, Date.now);
    const check = { rule: "r", key: "joe", limit: fixedWindow({ limit: 1, window: "1h" }) };
    const early = Promise.resolve(store.decide([check])).catch((error) => error);
    const server = await startRedis({ port });
    opened.push(() => server.stop());
    await vi.waitFor(async () => expect((await store.decide([check]))[0]?.source).toBe("store"), {
      timeout: 15_000,
    });
    await early;
  });
});

describe("with none installed", () => {
  it("says so when built, and what to do", () => {
    const build = () => installedRedisClient({ host: "127.0.0.1", port: 6379 }, () => undefined);
    expect(build).toThrow(ConfigError);
    expect(build).toThrow("npm install ioredis");
  });
});

describe("left to look for itself", () => {
  it("finds the package that the app can see", () => {
    const { client, close } = installedRedisClient({ host: "127.0.0.1", port: 1 });
    opened.push(close);
    expect(client).toHaveProperty("callBuffer");
  });
});
