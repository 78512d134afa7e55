import { setTimeout as sleep } from "node:timers/promises";
import { createClient, createCluster } from "@redis/client";
import { Registry } from "prom-client";
import { memoryDirectory, memoryStore, type Store } from "tidegate";
import { redisStore } from "tidegate/redis";
import { subjectOf } from "tidegate/testing";
import { afterEach, expect, inject, it, vi } from "vitest";
import { openTracker } from "../../packages/tidegate-server/src/control/tracker.js";
import { forgetTracked } from "../../packages/tidegate-server/src/control/tracking/tracked-rules.js";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import type { Log } from "../../packages/tidegate-server/src/log.js";
import { faultProxy, startRedis } from "../servers/index.js";

const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const commandOptions = { timeout: 0 };
const patiently = { timeout: 15_000, interval: 20 };
const settings = {
  methods: [],
  standard: "30 per minute",
  broad: "60 per minute",
  halfLifeMs: 30_000,
  holdFor: [60_000],
};
/** Well below what passes from rest: rate ÷ (ln 2 ÷ half-life) = 21, and one. */
const passing = 10;

async function singleOf(port: number) {
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

async function clusterOf(ports: readonly number[]) {
  const rootNodes = ports.map((port) => ({ socket: { host: "127.0.0.1", port } }));
  const client = createCluster({ rootNodes, commandOptions });
  client.on("error", () => {});
  await client.connect();
  endings.push(() => client.destroy());
  return client;
}

/** One process: a tracker, and offenders for all of them in Redis. */
async function processOn(client: object, prefix: string, store: Store = redisStore({ client, prefix })) {
  const data = await openRedisData({ client, prefix, directory: memoryDirectory() });
  endings.push(() => data.close());
  const registry = new Registry();
  const tracker = openTracker({ settings, store, offenders: data.offenders, log, registry });
  endings.push(() => tracker.close());
  /** However it ended: a busy machine may miss the store's deadline. */
  const counted = async (): Promise<number> => {
    const lines = await registry.metrics();
    return ["counted", "dropped"].reduce(
      (sum, outcome) => sum + Number(new RegExp(`outcome="${outcome}"} (\\d+)`).exec(lines)?.[1] ?? 0),
      0,
    );
  };
  return { data, store, track: tracker.track, counted };
}

/** Until what was sent has been counted, and told where that takes a moment. */
async function settled(count: () => Promise<number>): Promise<void> {
  for (let last = -1, next = await count(); next !== last; next = await count()) {
    last = next;
    await sleep(1_500);
  }
}

const attack = () => subjectOf("203.0.113.7", { method: "POST", path: "/login" });

for (const kind of ["Redis", "a Redis Cluster"] as const) {
  it(`processes that count in ${kind} find one offender between them, and whoever watches hears of it`, async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const open = () =>
      kind === "Redis" ? singleOf(inject("redisPort")) : clusterOf(inject("redisClusterPorts"));
    const one = await processOn(await open(), prefix);
    const two = await processOn(await open(), prefix);
    const three = await processOn(await open(), prefix);
    let heard = 0;
    three.data.offenders.watch(() => heard++);
    await vi.waitFor(() => expect(heard).toBe(1), patiently);
    const both = async () => (await one.counted()) + (await two.counted());
    for (let i = 0; i < passing; i++) (i % 2 === 0 ? one : two).track(attack());
    await vi.waitFor(async () => expect(await both()).toBe(passing), patiently);
    expect(await three.data.offenders.now()).toEqual([]);
    await vi.waitFor(() => {
      one.track(attack());
      two.track(attack());
      expect(heard).toBeGreaterThan(1);
    }, patiently);
    expect(await three.data.offenders.now()).toMatchObject([
      { rule: "edge/standard", about: { ip: "203.0.113.7", path: "/login" } },
    ]);
    await vi.waitFor(async () => {
      two.track(attack());
      const [offender, ...others] = await three.data.offenders.now();
      expect(offender?.leaked).toBeGreaterThan(0);
      expect(others).toEqual([]);
    }, patiently);
    await settled(both);

    const removed = await three.data.offenders.remove(
      (await three.data.offenders.now()).map(({ key }) => key),
    );
    await forgetTracked(three.store, removed);
    const before = await both();
    for (let i = 0; i < passing; i++) one.track(attack());
    await vi.waitFor(async () => expect(await both()).toBe(before + passing), patiently);
    expect(await three.data.offenders.now()).toEqual([]);
    await vi.waitFor(async () => {
      one.track(attack());
      expect(await three.data.offenders.now()).toHaveLength(1);
    }, patiently);
  }, 60_000);
}

it("who crosses while Redis is away is told of when it is back, without another request", async () => {
  const redis = await startRedis();
  const proxy = await faultProxy(redis.port);
  endings.push(() => redis.stop());
  endings.push(() => proxy.stop());
  const { track, counted, data } = await processOn(await singleOf(proxy.port), "t", memoryStore());
  await proxy.refuse(true);
  proxy.cut();
  for (let i = 0; i < 50; i++) track(attack());
  await vi.waitFor(async () => expect(await counted()).toBe(50), patiently);
  await expect(data.offenders.now()).rejects.toMatchObject({ code: "TG_DATA_UNREACHABLE" });
  await proxy.refuse(false);
  await vi.waitFor(async () => expect(await data.offenders.now()).toHaveLength(1), patiently);
});
