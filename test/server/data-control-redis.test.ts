import { setTimeout as sleep } from "node:timers/promises";
import { createClient, createCluster } from "@redis/client";
import { memoryDirectory, TidegateError } from "tidegate";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import { memoryOffenders } from "../../packages/tidegate-server/src/data/embedded/memory-offenders.js";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import { faultProxy, startRedis, startRedisCluster } from "../servers/index.js";
import { digestOf, offender } from "./data-control-contract.js";

type Ending = () => unknown;
const endings: Ending[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const commandOptions = { timeout: 0 };
const newPrefix = (): string => `t:${crypto.randomUUID()}`;
const patiently = { timeout: 15_000, interval: 20 };

async function clientOf(port: number) {
  const client = createClient({
    socket: { port, reconnectStrategy: 50 },
    disableOfflineQueue: true,
    commandOptions,
  });
  client.on("error", () => {});
  await client.connect();
  endings.push(() => client.destroy());
  return client;
}

interface Opening {
  readonly prefix?: string;
  readonly mostOffenders?: number;
  readonly clock?: () => number;
  readonly serverClock?: () => number;
}

async function opened(client: object, { prefix = newPrefix(), ...more }: Opening = {}) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const data = await openRedisData({ client, prefix, directory: memoryDirectory(), onError, ...more });
  endings.push(() => data.close());
  return { data, errors, prefix };
}

function heardBy(data: Data) {
  const heard = { offenders: 0, book: 0 };
  data.offenders.watch(() => heard.offenders++);
  data.edgeBook.watch(() => heard.book++);
  return heard;
}

describe("what control knows in Redis", () => {
  it("stands below the prefix in one slot, and whatever is not bounded ends by itself", async () => {
    const client = await clientOf(inject("redisPort"));
    const { data, prefix } = await opened(client);
    await data.offenders.add(offender(1));
    await data.offenders.markComplete();
    await data.edgeBook.setMode("front", { mode: "off", who: "ann" });
    await data.edgeBook.addClears([digestOf(1)], { until: Date.now() + 60_000, who: "ann" });
    await data.edgeBook.report("front", {});
    await data.edgeBook.setStop("front", { why: "a flood" });
    await data.leases.take("front", "a", 60_000);
    const keys = (await client.keys("*")).filter((key) => key.startsWith(`${prefix}:`)).toSorted();
    const home = `${prefix}:{control}:`;
    const names = keys.map((key) => key.slice(home.length));
    expect(names).toEqual(
      "changes,clear-ends,clears,ends,events,fence,held,lease:front,modes,ranks,reports,stops".split(","),
    );
    expect(keys.every((key) => key.startsWith(home))).toBe(true);
    const lasting = [];
    for (const key of keys) if ((await client.pTTL(key)) === -1) lasting.push(key.slice(home.length));
    expect(lasting).toEqual(["changes", "ends", "fence", "held", "modes", "ranks", "stops"]);
  });

  it("merges offenders as the process's own do, whatever is told in whatever order", async () => {
    let at = 1_000_000;
    const clock = () => at;
    const client = await clientOf(inject("redisPort"));
    const terms = { clock, serverClock: clock, mostOffenders: 6 };
    const { data, prefix } = await opened(client, terms);
    const { data: reader } = await opened(client, { ...terms, prefix });
    const own = memoryOffenders({ most: 6, now: clock });
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let i = 0; i < 400; i++) {
      at += random(300) + 0.5;
      const told = offender(random(8), {
        rule: random(2) === 0 ? "a" : "b",
        crossedAt: at - random(100),
        // No two end together: who goes first would be anybody's choice.
        until: at + random(20) * 250 + i / 1024,
        score: 1 + random(40) / 7,
        leaked: random(50),
      });
      if (random(9) === 0) {
        const key = digestOf(random(8));
        const byRule = (a: { rule: string }, b: { rule: string }) => a.rule.localeCompare(b.rule);
        expect((await data.offenders.remove([key])).toSorted(byRule)).toEqual(
          (await own.remove([key])).toSorted(byRule),
        );
      } else expect(await data.offenders.add(told)).toBe(await own.add(told));
      const expected = await own.now();
      expect(await data.offenders.now()).toEqual(expected);
      if (random(5) === 0) expect(await reader.offenders.now()).toEqual(expected);
    }
    expect(own.dropped()).toBeGreaterThan(20);
    expect(data.offenders.dropped()).toBe(own.dropped());
  });

  it("is known to a process that was away while more changed than is remembered", async () => {
    const client = await clientOf(inject("redisPort"));
    const { data, prefix } = await opened(client, { mostOffenders: 5 });
    const { data: reader } = await opened(client, { prefix, mostOffenders: 5 });
    await data.offenders.add(offender(999));
    expect(await reader.offenders.now()).toHaveLength(1);
    for (let i = 0; i < 40; i++) {
      await data.offenders.add(offender(i));
      await data.offenders.remove([digestOf(i)]);
    }
    await data.offenders.remove([digestOf(999)]);
    await data.offenders.add(offender(1000));
    expect(await client.zCard(`${prefix}:{control}:changes`)).toBeLessThanOrEqual(11);
    expect(await reader.offenders.now()).toMatchObject([{ key: digestOf(1000) }]);
  });

  it("that others wrote over is passed over and told of, and the rest holds", async () => {
    const client = await clientOf(inject("redisPort"));
    const { data, prefix } = await opened(client);
    await data.offenders.add(offender(1));
    await data.edgeBook.setMode("front", { mode: "off", who: "ann" });
    await data.edgeBook.addClears([digestOf(1)], { until: Date.now() + 60_000, who: "ann" });
    await data.edgeBook.report("front", { entries: 1 });
    const until = Date.now() + 60_000;
    const bad = {
      nonsense: "nonsense",
      [`${digestOf(2)}\nr`]: "nonsense",
      [`${digestOf(3)}\nr`]: `${until} 1 1 1 1 1\n{`,
      [`${digestOf(4)}\nr`]: `${until} 1 1 1 1 1\nnull`,
      [`${digestOf(5)}\nr`]: `${until} x 1 1 1 1\n{"edges":[],"about":{}}`,
      [`${digestOf(6)}\nr`]: `${until} 1 1 1 1 1\n{"edges":[7],"about":{}}`,
      [`"; set map x${"\n"}r`]: `${until} 1 1 1 1 1\n{"edges":[],"about":{}}`,
      [`${digestOf(7)}\nr`]: `${until} 1 1 1 1 1\n{"edges":[],"about":{"ip":7,"path":"${"x".repeat(999)}"}}`,
    };
    const home = `${prefix}:{control}`;
    await client.hSet(`${home}:held`, bad);
    for (const key of ["modes", "clears", "reports"])
      await client.hSet(`${home}:${key}`, { a: "{", b: "null", c: '"x"', d: '{"mode":"maybe"}' });
    const { data: other, errors } = await opened(client, { prefix });
    expect(await other.offenders.now()).toMatchObject([
      { key: digestOf(1) },
      { key: digestOf(7), about: { path: "x".repeat(200) } },
    ]);
    expect(errors).toMatchObject([{ code: "TG_DATA_CORRUPT" }]);
    expect([...(await other.edgeBook.modes()).keys()]).toEqual(["front"]);
    expect(await other.edgeBook.clears()).toMatchObject([{ key: digestOf(1) }]);
    expect(await other.edgeBook.reports()).toEqual(new Map([["front", { entries: 1 }]]));
    expect(errors.length).toBeGreaterThan(3);
    expect(await other.offenders.add(offender(3, { rule: "r" }))).toBe(true);
    expect((await other.offenders.now()).map(({ key }) => key)).toContain(digestOf(3));
  });

  it("goes by Redis's clock: whoever's own is an hour ahead or behind ends nobody's hold and no clear", async () => {
    const client = await clientOf(inject("redisPort"));
    const { data, prefix } = await opened(client);
    const anHour = 3_600_000;
    const held = offender(1);
    await data.offenders.add(held);
    await data.edgeBook.addClears([digestOf(1)], { until: Date.now() + 60_000, who: "ann" });
    await data.edgeBook.report("front", {});
    for (const [i, shift] of [anHour, -anHour].entries()) {
      const { data: other } = await opened(client, { prefix, clock: () => Date.now() + shift });
      const own = offender(2 + i, { until: Date.now() + shift + 60_000, crossedAt: Date.now() + shift });
      expect(await other.offenders.add(own)).toBe(true);
      await other.edgeBook.addClears([own.key], { until: own.until, who: "bob" });
      expect([...(await other.edgeBook.reports()).keys()]).toEqual(["front"]);
      const [first] = (await other.offenders.now()).filter(({ key }) => key === held.key);
      expect(Math.abs((first?.until ?? 0) - shift - held.until)).toBeLessThan(5_000);
      const [here] = (await data.offenders.now()).filter(({ key }) => key === own.key);
      expect(Math.abs((here?.until ?? 0) + shift - own.until)).toBeLessThan(5_000);
      expect((await other.edgeBook.clears()).map(({ key }) => key)).toContain(digestOf(1));
      const clear = (await data.edgeBook.clears()).find(({ key }) => key === own.key);
      expect(Math.abs((clear?.until ?? 0) + shift - own.until)).toBeLessThan(5_000);
    }
    expect((await data.offenders.now()).find(({ key }) => key === held.key)).toEqual(held);
  });

  it("a record that would hold a good part of the Internet, or for ever, is passed over or cut short", async () => {
    const client = await clientOf(inject("redisPort"));
    const { data, prefix } = await opened(client);
    await data.offenders.add(offender(1));
    const record = `${Date.now() + 60_000} 1 1 1 1 1\n{"edges":[],"about":{}}`;
    await client.hSet(`${prefix}:{control}:held`, {
      "10.0.0.0/15\nr": record,
      "2001:db8::/31\nr": record,
      "10.1.0.0/16\nr": record,
      [`${digestOf(2)}\nr`]: '1e300 1 1 1 1 1\n{"edges":[],"about":{"ip":"evil"}}',
    });
    const { data: other, errors } = await opened(client, { prefix });
    const found = await other.offenders.now();
    expect(found.map(({ key }) => key).toSorted()).toEqual(
      [digestOf(1), digestOf(2), "10.1.0.0/16"].toSorted(),
    );
    expect(found.every(({ until }) => until < 1e13)).toBe(true);
    expect(found.find(({ key }) => key === digestOf(2))?.about).toEqual({});
    expect(errors).toMatchObject([{ code: "TG_DATA_CORRUPT" }]);
  });

  it("says nothing of an edge any more when whoever kept it has been gone for a minute", async () => {
    let at = Date.now();
    const clock = () => at;
    const { data } = await opened(await clientOf(inject("redisPort")), { clock, serverClock: clock });
    await data.edgeBook.report("front", {});
    at += 50_000;
    await data.edgeBook.report("cdn", {});
    expect([...(await data.edgeBook.reports()).keys()].toSorted()).toEqual(["cdn", "front"]);
    at += 20_000;
    expect([...(await data.edgeBook.reports()).keys()]).toEqual(["cdn"]);
  });
});

describe("when Redis fails", () => {
  it("and loses everything, offenders are no longer complete, leases' numbers still grow, and news go on", async () => {
    const redis = await startRedis();
    endings.push(() => redis.stop());
    const client = await clientOf(redis.port);
    const { data } = await opened(client, { prefix: "t" });
    const heard = heardBy(data);
    await data.offenders.add(offender(1));
    await data.offenders.markComplete();
    const number = (await data.leases.take("front", "a", 60_000)) as number;
    expect(await data.offenders.now()).toHaveLength(1);
    await client.flushAll();
    await client.scriptFlush();
    expect(await data.offenders.isComplete()).toBe(false);
    expect(await data.offenders.now()).toEqual([]);
    const { data: other } = await opened(await clientOf(redis.port), { prefix: "t" });
    await vi.waitFor(() => expect(heard.offenders).toBeGreaterThan(0), patiently);
    const before = heard.offenders;
    await other.offenders.add(offender(2));
    await vi.waitFor(() => expect(heard.offenders).toBeGreaterThan(before), patiently);
    expect(await data.offenders.isComplete()).toBe(false);
    expect(await data.offenders.now()).toMatchObject([{ key: digestOf(2) }]);
    expect(await data.leases.take("front", "b", 60_000)).toBeGreaterThan(number);
  });

  it("and loses one of the keys, all are begun anew", async () => {
    const redis = await startRedis();
    endings.push(() => redis.stop());
    const client = await clientOf(redis.port);
    const { data } = await opened(client, { prefix: "t" });
    for (const lost of ["held", "ends", "changes", "ranks"]) {
      await data.offenders.add(offender(1));
      await data.offenders.markComplete();
      await data.offenders.now();
      await client.del(`t:{control}:${lost}`);
      await data.offenders.add(offender(2));
      expect(await data.offenders.isComplete()).toBe(false);
      expect(await data.offenders.now()).toMatchObject([{ key: digestOf(2) }]);
    }
  });

  it("and every connection is killed, watchers hear on, and are told once more for what they may have missed", async () => {
    const redis = await startRedis();
    endings.push(() => redis.stop());
    const client = await clientOf(redis.port);
    const { data, errors } = await opened(client, { prefix: "t" });
    const heard = heardBy(data);
    await vi.waitFor(() => expect(heard.book).toBe(1), patiently);
    const admin = await clientOf(redis.port);
    for (let i = 1; i <= 3; i++) {
      const before = { ...heard };
      await admin.sendCommand(["CLIENT", "KILL", "TYPE", "normal"]);
      await vi.waitFor(() => expect(heard.book).toBeGreaterThan(before.book), patiently);
      expect(heard.offenders).toBeGreaterThan(before.offenders);
      const { data: other } = await opened(await clientOf(redis.port), { prefix: "t" });
      const after = heard.offenders;
      await other.offenders.add(offender(i));
      await vi.waitFor(() => expect(heard.offenders).toBeGreaterThan(after), patiently);
    }
    await vi.waitFor(async () => expect(await data.offenders.now()).toHaveLength(3), patiently);
    expect(errors).toHaveLength(3);
    expect(errors[0]).toBeInstanceOf(TidegateError);
  });

  it("and is away for a while, it is told once, and news come when it is back", async () => {
    const redis = await startRedis();
    const proxy = await faultProxy(redis.port);
    endings.push(() => redis.stop());
    endings.push(() => proxy.stop());
    const { data, errors } = await opened(await clientOf(proxy.port), { prefix: "t" });
    const heard = heardBy(data);
    await vi.waitFor(() => expect(heard.book).toBe(1), patiently);
    await proxy.refuse(true);
    proxy.cut();
    const direct = await opened(await clientOf(redis.port), { prefix: "t" });
    await direct.data.offenders.add(offender(1));
    await sleep(1_500);
    expect(errors).toHaveLength(1);
    for (const ask of [
      () => data.offenders.add(offender(1)),
      () => data.offenders.now(),
      () => data.offenders.isComplete(),
      () => data.edgeBook.modes(),
      () => data.leases.take("front", "a", 1_000),
    ])
      await expect(ask()).rejects.toMatchObject({ code: "TG_DATA_UNREACHABLE" });
    const before = heard.offenders;
    await proxy.refuse(false);
    await vi.waitFor(() => expect(heard.offenders).toBeGreaterThan(before), patiently);
    await vi.waitFor(async () => expect(await data.offenders.now()).toHaveLength(1), patiently);
    const after = heard.offenders;
    await direct.data.offenders.add(offender(2));
    await vi.waitFor(() => expect(heard.offenders).toBeGreaterThan(after), patiently);
  });

  it("and hangs, nobody waits for ever, and what was asked before does not hinder what is asked after", async () => {
    const redis = await startRedis();
    endings.push(() => redis.stop());
    const { data } = await opened(await clientOf(redis.port), { prefix: "t" });
    const heard = heardBy(data);
    await vi.waitFor(() => expect(heard.book).toBe(1), patiently);
    await data.offenders.add(offender(1));
    redis.freeze();
    const asked = [
      data.offenders.add(offender(2)),
      data.offenders.now(),
      data.edgeBook.setMode("front", { mode: "off", who: "ann" }),
      data.leases.take("front", "a", 1_000),
    ];
    for (const outcome of await Promise.allSettled(asked))
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "TG_DATA_UNREACHABLE" } });
    redis.thaw();
    await vi.waitFor(async () => expect((await data.offenders.now()).length).toBeGreaterThan(0), patiently);
    const { data: other } = await opened(await clientOf(redis.port), { prefix: "t" });
    const before = heard.offenders;
    await other.offenders.add(offender(3));
    await vi.waitFor(() => expect(heard.offenders).toBeGreaterThan(before), patiently);
  });

  it("over in a cluster to a replica, offenders are there and news go on", async () => {
    const cluster = await startRedisCluster({ replicasPerMaster: 1 });
    endings.push(() => cluster.stop());
    const rootNodes = cluster.ports.map((port) => ({ socket: { host: "127.0.0.1", port } }));
    const client = createCluster({ rootNodes, commandOptions });
    client.on("error", () => {});
    await client.connect();
    endings.push(() => client.destroy());
    const { data } = await opened(client, { prefix: "t" });
    const { data: other } = await opened(client, { prefix: "t" });
    const heard = heardBy(data);
    await data.offenders.add(offender(1));
    await data.offenders.markComplete();
    await vi.waitFor(() => expect(heard.book).toBeGreaterThan(0), patiently);
    const key = "t:{control}:held";
    const slot = Number(await client.sendCommand(key, true, ["CLUSTER", "KEYSLOT", key]));
    const { address } = client.slots[slot]?.master ?? {};
    const owner = cluster.nodes.find(({ port }) => address?.endsWith(`:${port}`));
    expect(owner).toBeDefined();
    await sleep(200);
    await owner?.kill();
    await vi.waitFor(() => other.offenders.add(offender(2)), patiently);
    const before = heard.offenders;
    await vi.waitFor(async () => {
      await other.offenders.add(offender(3));
      await other.offenders.remove([digestOf(3)]);
      expect(heard.offenders).toBeGreaterThan(before);
    }, patiently);
    expect(await data.offenders.isComplete()).toBe(true);
    expect((await data.offenders.now()).map(({ key }) => key)).toEqual(
      expect.arrayContaining([digestOf(1), digestOf(2)]),
    );
  }, 60_000);
});
