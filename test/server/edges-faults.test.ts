import { createClient } from "@redis/client";
import { memoryDirectory } from "tidegate";
import { expect, onTestFinished, test } from "vitest";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import { type ChildServer, faultProxy, startRedis } from "../servers/index.js";
import { type EdgesRig, openEdgesRig } from "./edges-rig.js";
import { eventually } from "./running.js";

const timeout = 120_000;
/** No traffic of its own: offenders are put where a perimeter would put them. */
const control = "{ track: false, every: 1s }";

const redisStore = (port: number): string => `{ kind: redis, url: "redis://127.0.0.1:${port}" }`;

async function redisFor(): Promise<ChildServer> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return redis;
}

/** What a perimeter of another process writes. */
async function dataAt(port: number): Promise<Data> {
  const client = createClient({ socket: { port, reconnectStrategy: 50 }, disableOfflineQueue: true });
  client.on("error", () => {});
  await client.connect();
  const data = await openRedisData({ client, prefix: "tg", directory: memoryDirectory() });
  onTestFinished(async () => {
    await data.close();
    client.destroy();
  });
  return data;
}

const addressOf = (i: number): string => `203.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
const addresses = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => addressOf(from + i));

async function hold(data: Data, keys: readonly string[], forMs = 600_000): Promise<void> {
  const now = Date.now();
  const more = { rule: "flood", crossedAt: now, until: now + forMs, score: 2, leaked: 0, edges: [] };
  await Promise.all(keys.map((key) => data.offenders.add({ key, ...more, about: { ip: key } })));
}

const mapOf = ({ haproxy }: EdgesRig): string => `${haproxy.dir}/addresses.map`;

/** Read from HAProxy's own runtime API, a line for each entry, so that a double one would show. */
async function atHaproxy(rig: EdgesRig): Promise<string[]> {
  const text = await rig.haproxySays(`show map ${mapOf(rig)}`);
  return text
    .split("\n")
    .flatMap((line) => line.split(" ")[1] ?? [])
    .sort();
}

async function untilAtHaproxy(rig: EdgesRig, keys: readonly string[]): Promise<void> {
  const wanted = [...keys].sort();
  await patiently(async () => expect(await atHaproxy(rig)).toEqual(wanted));
}

/** By requests of these very clients. */
async function refusedByVarnish(rig: EdgesRig, keys: readonly string[]): Promise<boolean[]> {
  return Promise.all(keys.map(async (address) => (await rig.visit("varnish", { address })).isRefusedThere));
}

async function untilAtVarnish(rig: EdgesRig, keys: readonly string[]): Promise<void> {
  await patiently(async () => expect((await refusedByVarnish(rig, keys)).every(Boolean)).toBe(true));
}

async function patiently(check: () => Promise<void>): Promise<void> {
  const until = Date.now() + 40_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

test("a control killed in the middle of its work is replaced, and nothing is left half done", {
  timeout,
}, async () => {
  const redis = await redisFor();
  const rig = await openEdgesRig({ control, store: redisStore(redis.port) });
  await rig.haproxySays(`add map ${mapOf(rig)} 192.0.2.99 true`);
  await rig.startAnother();
  const data = await dataAt(redis.port);
  const held = addresses(3_000);
  const written = hold(data, held);
  await eventually(async () => (await atHaproxy(rig)).length > 200 || undefined);
  rig.tidegates[0]?.signal("SIGKILL");
  await written;
  await untilAtHaproxy(rig, [...held, "192.0.2.99"]);
  await data.offenders.remove(held.slice(0, 2_999));
  await data.edgeBook.addClears(held.slice(0, 2_999), { until: Date.now() + 600_000, who: "ann" });
  await untilAtHaproxy(rig, ["192.0.2.99", held[2_999] as string]);
});

test("two controls at once write nothing twice and undo nothing of each other", { timeout }, async () => {
  const redis = await redisFor();
  const rig = await openEdgesRig({ control, store: redisStore(redis.port) });
  await rig.startAnother();
  await rig.startAnother();
  const data = await dataAt(redis.port);
  for (let round = 0; round < 5; round++) await hold(data, addresses(100, round * 100));
  await untilAtHaproxy(rig, addresses(500));
  await untilAtVarnish(rig, addresses(50, 200));
  const keepers = await Promise.all(
    rig.tidegates.map(async ({ admin }) => {
      const answer = await fetch(new URL("/v1/edges", admin));
      const { edges } = (await answer.json()) as { edges: readonly { keeper: string }[] };
      return edges.map(({ keeper }) => keeper);
    }),
  );
  expect(new Set(keepers.map(String)).size).toBe(1);
});

test("edges that were restarted or wiped are filled again, what others put there stays", {
  timeout,
}, async () => {
  const redis = await redisFor();
  const rig = await openEdgesRig({ control, store: redisStore(redis.port) });
  const data = await dataAt(redis.port);
  const held = addresses(300);
  await hold(data, held);
  await untilAtHaproxy(rig, held);
  await untilAtVarnish(rig, held.slice(0, 20));

  await rig.haproxySays(`clear map ${mapOf(rig)}`);
  await rig.haproxySays(`add map ${mapOf(rig)} 192.0.2.98 true`);
  await untilAtHaproxy(rig, [...held, "192.0.2.98"]);

  await Promise.all([rig.haproxy.restart(), rig.varnish.restart()]);
  await untilAtHaproxy(rig, held);
  await untilAtVarnish(rig, held.slice(0, 20));
});

test("an edge that hangs, or is gone, holds up nobody and gets everything when it is back", {
  timeout,
}, async () => {
  const redis = await redisFor();
  const rig = await openEdgesRig({ control, store: redisStore(redis.port) });
  const data = await dataAt(redis.port);
  await hold(data, addresses(20));
  await untilAtHaproxy(rig, addresses(20));

  rig.haproxy.freeze();
  await hold(data, addresses(20, 100));
  await untilAtVarnish(rig, addresses(20, 100));
  rig.haproxy.thaw();
  await untilAtHaproxy(rig, [...addresses(20), ...addresses(20, 100)]);

  await rig.varnish.kill();
  await hold(data, addresses(20, 200));
  await untilAtHaproxy(rig, [...addresses(20), ...addresses(20, 100), ...addresses(20, 200)]);
  await patiently(async () => {
    const { stdout, code } = await rig.tidegate("edge", "status");
    expect(stdout).toMatch(/varnish .*out of reach/);
    expect(code).toBe(1);
  });
  await rig.varnish.restart();
  await untilAtVarnish(rig, addresses(20, 200));
});

test("a Redis that forgets everything lets nobody go: what the edges know is taken in again", {
  timeout,
}, async () => {
  const redis = await redisFor();
  const rig = await openEdgesRig({ control, store: redisStore(redis.port) });
  const data = await dataAt(redis.port);
  const held = addresses(200);
  await hold(data, held);
  await untilAtHaproxy(rig, held);
  await redis.restart();
  await patiently(async () => {
    const known = await data.offenders.now();
    expect(known.map(({ key }) => key).sort()).toEqual([...held].sort());
  });
  expect(await atHaproxy(rig)).toEqual([...held].sort());
  await hold(data, ["198.51.100.1"]);
  await untilAtHaproxy(rig, [...held, "198.51.100.1"]);
});

test("Redis failing over to its replica: holds go on, and nothing is undone", { timeout }, async () => {
  const primary = await redisFor();
  const replica = await redisFor();
  const toPrimary = await faultProxy(primary.port);
  onTestFinished(() => toPrimary.stop());
  const say = createClient({ socket: { port: replica.port } });
  await say.connect();
  onTestFinished(() => say.destroy());
  await say.sendCommand(["REPLICAOF", "127.0.0.1", String(primary.port)]);
  const rig = await openEdgesRig({ control, store: redisStore(toPrimary.port) });
  const before = await dataAt(primary.port);
  const held = addresses(100);
  await hold(before, held);
  await untilAtHaproxy(rig, held);
  await patiently(async () => {
    expect(String(await say.sendCommand(["INFO", "replication"]))).toContain("master_link_status:up");
  });

  await toPrimary.stop();
  await primary.kill();
  await say.sendCommand(["REPLICAOF", "NO", "ONE"]);
  const toReplica = await faultProxy(replica.port, toPrimary.port);
  onTestFinished(() => toReplica.stop());
  const after = await dataAt(replica.port);
  await hold(after, ["198.51.100.2"]);
  await untilAtHaproxy(rig, [...held, "198.51.100.2"]);
});
