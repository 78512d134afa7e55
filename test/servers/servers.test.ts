import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, inject, test } from "vitest";
import { ask } from "./child-server.js";
import { freePort, startMemcached, startRedis, startRedisCluster } from "./index.js";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

async function started<S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  cleanups.push(() => server.stop());
  return server;
}

const ping = (port: number, timeoutMs?: number) => ask(port, "PING\r\n", timeoutMs);

test("the run's own servers answer", async () => {
  expect(await ping(inject("redisPort"))).toBe("+PONG\r\n");
  expect(await ask(inject("memcachedPort"), "mn\r\n")).toBe("MN\r\n");
  expect(inject("redisClusterPorts")).toHaveLength(3);
  for (const port of inject("redisClusterPorts")) {
    expect(await ask(port, "CLUSTER INFO\r\n")).toContain("cluster_state:ok");
  }
});

test("a frozen server keeps silent until thawed", async () => {
  const redis = await started(startRedis());
  redis.freeze();
  await expect(ping(redis.port, 100)).rejects.toThrow("no answer");
  redis.thaw();
  expect(await ping(redis.port)).toBe("+PONG\r\n");
});

test("a killed server refuses connections until restarted, on the same port and empty", async () => {
  const redis = await started(startRedis());
  await ask(redis.port, "SET a 1\r\n");
  const before = redis.pid;
  await redis.kill();
  await expect(ping(redis.port)).rejects.toThrow("ECONNREFUSED");
  await redis.restart();
  expect(redis.pid).not.toBe(before);
  expect(await ask(redis.port, "GET a\r\n")).toBe("$-1\r\n");
});

test("a server can be stopped while frozen, and its settings can be given", async () => {
  const redis = await startRedis({ args: ["--maxmemory", "10mb"] });
  expect(await ask(redis.port, "CONFIG GET maxmemory\r\n")).toContain("10485760");
  redis.freeze();
  await redis.stop();
  await expect(ping(redis.port)).rejects.toThrow("ECONNREFUSED");
});

test("memcached restarts empty on its port", async () => {
  const memcached = await started(startMemcached());
  expect(await ask(memcached.port, "ms a 1\r\n1\r\n")).toBe("HD\r\n");
  await memcached.restart();
  expect(await ask(memcached.port, "mg a v\r\n")).toBe("EN\r\n");
});

test("a cluster with replicas forms, and comes back after a restart", async () => {
  const cluster = await started(startRedisCluster({ masters: 3, replicasPerMaster: 1 }));
  expect(cluster.ports).toHaveLength(6);
  expect(await ask(cluster.ports[3] as number, "ROLE\r\n")).toContain("slave");
  await cluster.kill();
  await cluster.restart();
  expect(await ask(cluster.ports[0] as number, "CLUSTER INFO\r\n")).toContain("cluster_state:ok");
});

test("a server that can not start says why", async () => {
  await expect(startRedis({ args: ["--no-such-setting", "1"] })).rejects.toThrow(
    /exited with[\s\S]*no-such-setting/,
  );
});

test("no port is handed out twice", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
});

test.runIf(process.platform === "linux")(
  "a server dies with its parent, even one that is killed outright",
  async () => {
    const dir = await mkdtemp(join(tmpdir(), "tidegate-orphan-")); // what the killed parent can not remove
    cleanups.push(() => rm(dir, { recursive: true }));
    const script = `
    import { startRedis } from ${JSON.stringify(fileURLToPath(new URL("./index.ts", import.meta.url)))};
    const redis = await startRedis();
    console.log(redis.port);
    setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: dir },
    });
    const [line] = await once(parent.stdout, "data");
    const port = Number(line);
    expect(await ping(port)).toBe("+PONG\r\n");
    parent.kill("SIGKILL");
    await once(parent, "exit");
    await sleep(100);
    await expect(ping(port)).rejects.toThrow("ECONNREFUSED");
  },
);
