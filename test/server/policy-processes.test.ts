import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { memoryDirectory } from "tidegate";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import { soon } from "../directory/support.js";
import { faultProxy, startRedis } from "../servers/index.js";
import { type Kept, keep as keepWith } from "./policy-support.js";

const home = mkdtempSync(join(tmpdir(), "tidegate-policies-"));
const path = join(home, "tidegate.yaml");
const clients: { destroy(): void }[] = [];
const kept: Kept[] = [];
const opened: Data[] = [];
let port: number;
beforeAll(() => {
  port = inject("redisPort");
});
afterEach(async () => {
  for (const { keeper } of kept.splice(0)) await keeper.close();
  for (const data of opened.splice(0)) await data.close();
});
afterAll(() => {
  for (const client of clients) client.destroy();
  rmSync(home, { recursive: true, force: true });
});

/** One process's data, on a connection of its own. */
async function dataAt(prefix: string, at = port): Promise<Data> {
  const client = createClient({
    socket: { port: at, reconnectStrategy: 50 },
    disableOfflineQueue: true,
    commandOptions: { timeout: 0 },
  });
  clients.push(client);
  client.on("error", () => {});
  await client.connect();
  const data = await openRedisData({ client, prefix, directory: memoryDirectory() });
  opened.push(data);
  return data;
}

async function keep(data: Data, given: Parameters<typeof keepWith>[1]): Promise<Kept> {
  const opening = await keepWith(data, given);
  kept.push(opening);
  return opening;
}

const file = { path, read: () => ({ text: readFileSync(path, "utf8") }), pollMs: 100 };
const newPrefix = (): string => `t:${crypto.randomUUID()}`;

describe("two processes on one Redis", () => {
  it("follow each other within a second", async () => {
    const prefix = newPrefix();
    const one = await keep(await dataAt(prefix), { demoText: "policy demo" });
    const other = await keep(await dataAt(prefix), { demoText: "policy demo" });
    await one.keeper.takeIn("policy a", { who: "ann" });
    await soon("the other to follow", () => other.inForce.at(-1) === "a");
    await other.keeper.rollback({ who: "bob" });
    await soon("the one to follow", () => one.inForce.at(-1) === "demo");
    expect(one.keeper.status()).toEqual(other.keeper.status());
    expect(one.inForce).toEqual(["demo", "a", "demo"]);
    expect(other.inForce).toEqual(["demo", "a", "demo"]);
  });

  it("that start with the same file at the same time take it in once; so they do when it changes", async () => {
    const prefix = newPrefix();
    writeFileSync(path, "policy a");
    const datas = await Promise.all(Array.from({ length: 4 }, () => dataAt(prefix)));
    const all = await Promise.all(datas.map((data) => keep(data, { file })));
    for (const { inForce } of all) expect(inForce).toEqual(["a"]);
    writeFileSync(path, "policy b");
    await soon("all to have it", () => all.every(({ inForce }) => inForce.at(-1) === "b"));
    const [data] = datas as [Data];
    expect((await data.policies.list()).map(({ text }) => text)).toEqual(["policy b", "policy a"]);
    expect(await data.audit.list()).toHaveLength(2);
    for (const { keeper } of all) expect(keeper.status().file?.state).toBe("in force");
  });

  it("that change the policy at the same time lose no change: the later one is a conflict or comes after", async () => {
    const prefix = newPrefix();
    const one = await keep(await dataAt(prefix), { demoText: "policy demo" });
    const other = await keep(await dataAt(prefix), { demoText: "policy demo" });
    const free = await Promise.all(
      [one, other, one, other].map(({ keeper }, i) => keeper.takeIn(`policy p${i}`, { who: "ann" })),
    );
    expect(free.map(({ id }) => id).toSorted()).toEqual([2, 3, 4, 5]);
    const tied = await Promise.allSettled(
      [one, other].map(({ keeper }, i) => keeper.takeIn(`policy q${i}`, { who: "ann", after: 5 })),
    );
    expect(tied.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await soon("both to agree", () => one.inForce.at(-1) === other.inForce.at(-1));
  });

  it("keep the old policy where a follower can not use the new one, loudly, and follow the next", async () => {
    const prefix = newPrefix();
    const one = await keep(await dataAt(prefix), { demoText: "policy demo" });
    const seen: string[] = [];
    const other = await keep(await dataAt(prefix), {
      demoText: "policy demo",
      apply(_, { text }) {
        if (text === "policy a") throw new Error("the store does not keep this");
        seen.push(text);
      },
    });
    await one.keeper.takeIn("policy a", { who: "ann" });
    await soon("the trouble to show", () => other.keeper.status().problem !== undefined);
    expect(other.keeper.status()).toMatchObject({
      version: 1,
      problem: expect.stringContaining("Version 2"),
    });
    expect(other.lines.some(({ level }) => level === "error")).toBe(true);
    await one.keeper.takeIn("policy b", { who: "ann" });
    await soon("the next", () => seen.at(-1) === "policy b");
    expect(other.keeper.status()).toMatchObject({ version: 3 });
  });
});

describe("while Redis is out of reach", () => {
  async function behindProxy(
    test: (proxy: Awaited<ReturnType<typeof faultProxy>>, data: Data) => Promise<void>,
  ): Promise<void> {
    const redis = await startRedis();
    const proxy = await faultProxy(redis.port);
    try {
      const data = await dataAt("t", proxy.port);
      await test(proxy, data);
    } finally {
      await proxy.stop();
      await redis.stop();
    }
  }

  it("a process starts with its file's policy, and with the stored one as soon as it can", async () => {
    writeFileSync(path, "policy a");
    await behindProxy(async (proxy, data) => {
      const before = await keepWith(data, { file });
      await before.keeper.takeIn("policy b", { who: "ann" });
      await before.keeper.close();
      await proxy.refuse(true);
      proxy.cut();
      const { inForce, keeper, lines } = await keep(data, { file });
      expect(inForce).toEqual(["a"]);
      expect(keeper.status()).toMatchObject({
        version: 0,
        problem: expect.stringContaining("TG_DATA_UNREACHABLE"),
      });
      expect(lines.some(({ level }) => level === "error")).toBe(true);
      await expect(keeper.takeIn("policy c", { who: "ann" })).rejects.toMatchObject({
        code: "TG_DATA_UNREACHABLE",
      });
      expect(inForce).toEqual(["a"]);
      await proxy.refuse(false);
      await expect.poll(() => inForce.at(-1), { timeout: 5_000 }).toBe("b");
      expect(keeper.status()).toMatchObject({ version: 2, file: { state: "behind" } });
      expect(keeper.status().problem).toBeUndefined();
    });
  });

  it("a changed file is not forgotten: it is taken in when Redis is back", async () => {
    writeFileSync(path, "policy a");
    await behindProxy(async (proxy, data) => {
      const { inForce, keeper } = await keep(data, { file });
      await proxy.refuse(true);
      proxy.cut();
      writeFileSync(path, "policy b");
      await expect.poll(() => keeper.status().file?.state, { timeout: 5_000 }).toBe("refused");
      expect(keeper.status().file?.problem).toContain("TG_DATA_UNREACHABLE");
      expect(inForce).toEqual(["a"]);
      await proxy.refuse(false);
      await expect.poll(() => inForce.at(-1), { timeout: 5_000 }).toBe("b");
      expect(keeper.status()).toMatchObject({ version: 2, file: { state: "in force" } });
    });
  });

  it("a bad file at the start is still told", async () => {
    await behindProxy(async (proxy, data) => {
      await proxy.refuse(true);
      proxy.cut();
      writeFileSync(path, "nonsense");
      await expect(keep(data, { file })).rejects.toThrow("is no policy");
    });
  });
});
