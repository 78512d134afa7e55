import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "ioredis";
import { tidegate } from "tidegate/node";
import { subjectOf } from "tidegate/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { ask as askHttp, oneConnection, type Told } from "../../packages/tidegate/src/testing/ask.js";
import { listening } from "../adapters/serving.js";
import { ask, type ChildServer } from "../servers/child-server.js";
import { freePort, startRedis, startRedisCluster } from "../servers/index.js";
import { breaker, clients, deadlineMs, gateOn, keepComing, settle, wrongIn } from "./gate-traffic.js";
import { ioredis, nodeRedis, own, until } from "./support.js";

function clusterClient({ ports }: { readonly ports: readonly number[] }): Cluster {
  const client = new Cluster(
    ports.map((port) => ({ host: "127.0.0.1", port })),
    { clusterRetryStrategy: () => 50 },
  );
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

const connects = Object.entries({ ioredis, "node-redis": nodeRedis });

describe.each(connects)("an app behind a gate on Redis (%s)", (_, connect) => {
  it("Redis stops: 200s go on and limits too; Redis starts: it counts again, without a restart of the app", async () => {
    const redis = await own(startRedis());
    const { gate } = gateOn(connect(redis.port), {
      rules: [
        { name: "all", by: "ip", limits: ["1000000 per 1d"] },
        { name: "few", only: "/few", by: "ip", limits: ["3 per 1d"] },
      ],
      tiers: {},
    });
    const server = createServer(tidegate({ gate })((_, res) => void res.end("hello")));
    const { url, close } = await listening(server);
    onTestFinished(close);
    const agent = oneConnection();
    onTestFinished(() => agent.destroy());
    const get = (target = "/") => askHttp(url, { target, agent });
    await until("the store to answer", async () => {
      await get();
      return gate.metrics().withoutStore === 0 && gate.metrics().decisions > 0;
    });

    await redis.kill();
    const answers: Told[] = [];
    const few: number[] = [];
    for (let i = 0; i < 60; i++) {
      answers.push(await get());
      if (i % 10 === 0) few.push((await get("/few")).status);
    }
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(["200 hello"]));
    expect(few).toEqual([200, 200, 200, 429, 429, 429]);
    expect(gate.metrics()).toMatchObject({ degraded: true });

    await redis.restart();
    await until("the gate to count in Redis again", async () => {
      await get();
      return !gate.metrics().degraded;
    });
    const before = gate.metrics().withoutStore;
    expect([(await get("/few")).status, (await get("/few")).status]).toEqual([200, 200]);
    expect(gate.metrics().withoutStore).toBe(before);
  });

  it("a metric and an event say so within 5 s, whatever the traffic, and once", async () => {
    const redis = await own(startRedis());
    const { gate, told } = gateOn(connect(redis.port), { breaker: { failures: 5, pauseMs: 60_000 } });
    await settle(gate);
    redis.freeze();
    const began = performance.now();
    for (let i = 0; i < 6; i++) await gate.decide(clients.anyone);
    expect(gate.metrics().degraded).toBe(true);
    expect(performance.now() - began).toBeLessThan(5000);
    for (let i = 0; i < 50; i++) await gate.decide(clients.anyone);
    expect(told).toEqual(["degraded"]);
    redis.thaw();
  });

  it("Redis down at boot: decides at once, reads the lists and counts as soon as it is up", async () => {
    const port = await freePort();
    const { gate } = gateOn(connect(port), { blocklist: ["192.0.2.66"] });
    for (let i = 0; i < 10; i++)
      expect(await gate.decide(clients.anyone)).toMatchObject({ allowed: true, source: "local" });
    expect((await gate.decide(subjectOf("192.0.2.66"))).reason).toBe("blocklist");
    expect((await gate.decide(clients.pro)).verdicts.some(({ tier }) => tier === "free")).toBe(true);
    await own(startRedis({ port }));
    await gate.ready;
    await until("the store to answer", async () => (await gate.decide(clients.anyone)).source === "store");
    await gate.blocklist.add("198.51.100.9");
    expect((await gate.decide(clients.blocked)).reason).toBe("blocklist");
  });

  it("each rule goes on in its own way: one denies, one allows, one counts here", async () => {
    const redis = await own(startRedis());
    const { gate } = gateOn(connect(redis.port), {
      onStoreFailure: "allow",
      rules: [
        { name: "deny", only: "/deny", by: "ip", limits: ["100 per 1d"], onStoreFailure: "deny" },
        {
          name: "local",
          only: ["/local", "/both", "/deny"],
          by: "ip",
          limits: ["2 per 1d"],
          onStoreFailure: "local",
        },
        { name: "allow", only: ["/allow", "/both"], by: "ip", limits: ["1 per 1d"] },
        { name: "shadow", by: "ip", limits: ["100 per 1d"], onStoreFailure: "deny", mode: "shadow" },
      ],
      tiers: {},
    });
    const at = (path: string, ip = "203.0.113.1") => gate.decide(subjectOf(ip, { path }));
    await until("the store to answer", async () => (await at("/", "203.0.113.99")).source === "store");
    await redis.kill();
    await until("the gate to say so", async () => {
      await at("/", "203.0.113.99");
      return gate.metrics().degraded;
    });

    for (let i = 0; i < 4; i++)
      expect(await at("/deny")).toMatchObject({ allowed: false, reason: "degraded", source: "none" });
    const open = await Promise.all([1, 2, 3, 4].map(() => at("/allow")));
    for (const decision of open) expect(decision).toMatchObject({ allowed: true, reason: "degraded" });
    const counted = [await at("/local"), await at("/local"), await at("/local"), await at("/both")];
    expect(counted.map(({ allowed }) => allowed)).toEqual([true, true, false, false]);
    expect(counted[2]?.verdict).toMatchObject({ rule: "local", source: "local" });
    expect((await at("/")).allowed).toBe(true);
    expect((await at("/local", "203.0.113.2")).allowed).toBe(true);
  });

  it("a request that ends during the outage ends without error and in time", async () => {
    const redis = await own(startRedis());
    const { gate } = gateOn(connect(redis.port), {
      rules: [
        {
          name: "login",
          by: "ip",
          limits: ["100 per 1d"],
          count: "failures",
          clearOnSuccess: true,
          trust: { by: ["ip", "user"], for: "1d" },
        },
        { name: "page", by: "path", limits: ["100 per 1d"], count: "failures" },
      ],
      tiers: {},
    });
    const subject = subjectOf("203.0.113.1", { user: "ann" });
    await until("the store to answer", async () => (await gate.decide(subject)).source === "store");
    const open = await Promise.all(Array.from({ length: 10 }, () => gate.decide(subject)));
    redis.freeze();
    const began = performance.now();
    await Promise.all(open.map((decision, i) => decision.finish({ status: i % 2 === 0 ? 200 : 401 })));
    await (await gate.decide(subject)).finish({ status: 200 });
    expect(performance.now() - began).toBeLessThan(20 * deadlineMs);
    redis.thaw();
    await until("the store to answer", async () => (await gate.decide(subject)).source === "store");
  });

  it("strangers seen for the first time during the outage wait for their records once, together", async () => {
    const redis = await own(startRedis());
    const { gate } = gateOn(connect(redis.port), { breaker: { failures: 3, pauseMs: 60_000 } });
    await settle(gate);
    redis.freeze();
    for (let i = 0; i < 4; i++) await gate.decide(clients.anyone);
    expect(gate.metrics().degraded).toBe(true);
    const waits: number[] = [];
    for (let i = 0; i < 40; i++) {
      const began = performance.now();
      const { verdicts } = await gate.decide(
        subjectOf("203.0.113.4", { path: "/api", customer: `stranger-${i}` }),
      );
      waits.push(performance.now() - began);
      expect(verdicts.find(({ rule }) => rule === "api")).toMatchObject({ tier: "free", source: "local" });
    }
    // A read that failed is followed by a second without reads; this took hardly more.
    expect(waits.filter((ms) => ms >= deadlineMs).length).toBeLessThan(few(waits));
    redis.thaw();
  });
});

describe("a cluster of which one master hangs", () => {
  it("makes those who are counted there wait a few times, not every time, and says so", async () => {
    const cluster = await own(startRedisCluster({ args: ["--cluster-node-timeout", "60000"] }));
    const { gate, told } = gateOn(clusterClient(cluster));
    const [there, elsewhere] = [await addressOn(cluster, 0), await addressOn(cluster, 1)];
    const both = () => Promise.all([there, elsewhere].map((ip) => gate.decide(subjectOf(ip))));
    await until("the store to answer", async () => (await both()).every(({ source }) => source === "store"));
    (cluster.nodes[0] as ChildServer).freeze();
    let waited = 0;
    for (let i = 0; i < 40; i++) {
      const began = performance.now();
      expect(await gate.decide(subjectOf(there))).toMatchObject({ allowed: true, source: "local" });
      if (performance.now() - began >= deadlineMs) waited++;
      expect((await gate.decide(subjectOf(elsewhere))).allowed).toBe(true);
    }
    expect(waited).toBeLessThan(20);
    expect(told[0]).toBe("degraded");
    (cluster.nodes[0] as ChildServer).thaw();
    await until("both to be counted there again", async () =>
      (await both()).every(({ source }) => source === "store"),
    );
  }, 60_000);
});

async function addressOn({ ports }: { readonly ports: readonly number[] }, master: number): Promise<string> {
  for (let i = 1; ; i++) {
    const address = `203.0.113.${i}`;
    const slot = Number((await ask(ports[0] as number, `CLUSTER KEYSLOT ${address}\r\n`)).slice(1));
    if (Math.floor((slot * 3) / 16_384) === master) return address;
  }
}

/** A machine that stands still for a moment holds up all who are under way; a gate that waits would hold up most. */
const few = ({ length }: readonly unknown[]): number => Math.max(4, length / 20);

describe("a failover under load", () => {
  it.each(connects)(
    "%s: the server is demoted, its clients are thrown out, and it is promoted again",
    async (_, connect) => {
      const redis = await own(startRedis());
      const { gate } = gateOn(connect(redis.port));
      await settle(gate);
      const traffic = keepComing(gate);
      for (let i = 0; i < 5; i++) {
        await ask(redis.port, `REPLICAOF 127.0.0.1 ${await freePort()}\r\n`);
        await ask(redis.port, "CLIENT KILL TYPE normal SKIPME yes\r\n");
        await sleep(100);
        await ask(redis.port, "REPLICAOF NO ONE\r\n");
        await sleep(100);
      }
      await until("counting to resume", async () => (await gate.decide(clients.anyone)).source === "store");
      const answers = await traffic.stop();
      expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(answers.flatMap(({ name, decision }) => (decision && wrongIn(name, decision)) ?? [])).toEqual(
        [],
      );
      expect(answers.filter(({ ms }) => ms > 3 * deadlineMs).length).toBeLessThan(few(answers));
    },
  );

  it("a cluster's master dies and its replica takes over: nobody errs or waits, and all count there again", async () => {
    const cluster = await own(startRedisCluster({ masters: 3, replicasPerMaster: 1 }));
    const { gate, told } = gateOn(clusterClient(cluster));
    await settle(gate);
    const slot = Number((await ask(cluster.ports[0] as number, "CLUSTER KEYSLOT 203.0.113.1\r\n")).slice(1));
    const master = cluster.nodes[Math.floor((slot * 3) / 16_384)] as ChildServer;

    const traffic = keepComing(gate);
    await sleep(100);
    await master.kill();
    await until("the gate to say so", async () => gate.metrics().degraded, 5000);
    const began = performance.now();
    await until(
      "the replica to count",
      async () => {
        await sleep(breaker.pauseMs / 3);
        return (await gate.decide(clients.anyone)).source === "store" && !gate.metrics().degraded;
      },
      30_000,
    );
    const lastedMs = performance.now() - began;
    const answers = await traffic.stop();

    expect(told[0]).toBe("degraded");
    expect(told).toContain("recovered");
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(answers.flatMap(({ name, decision }) => (decision && wrongIn(name, decision)) ?? [])).toEqual([]);
    expect(answers.filter(({ ms }) => ms > 3 * deadlineMs).length).toBeLessThan(few(answers));
    const waiting = answers.filter(({ ms, wasDegraded }) => wasDegraded && ms >= deadlineMs);
    expect(waiting.length).toBeLessThanOrEqual(2 + lastedMs / breaker.pauseMs);
  }, 60_000);
});
