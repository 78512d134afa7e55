import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ask, type ChildServer } from "../servers/child-server.js";
import { type FaultProxy, faultProxy, freePort, startRedis } from "../servers/index.js";
import { breaker, clients, deadlineMs, gateOn, keepComing, settle, wrongIn } from "./gate-traffic.js";
import { ioredis, nodeRedis, own, until } from "./support.js";

interface Place {
  readonly redis: ChildServer;
  readonly proxy: FaultProxy;
}

interface Fault {
  readonly name: string;
  begin(place: Place): unknown;
  end(place: Place): unknown;
}

const tell = async (port: number, line: string) => {
  const reply = await ask(port, `${line}\r\n`);
  if (reply.startsWith("-")) throw new Error(`${line}: ${reply}`);
};

const faults: Fault[] = [
  {
    name: "frozen",
    begin: ({ redis }) => redis.freeze(),
    end: ({ redis }) => redis.thaw(),
  },
  {
    name: "killed",
    begin: ({ redis }) => redis.kill(),
    end: ({ redis }) => redis.restart(),
  },
  {
    name: "slower than the deadline",
    begin: ({ proxy }) => proxy.delay(4 * deadlineMs),
    end: ({ proxy }) => proxy.delay(0),
  },
  {
    name: "cut off",
    async begin({ proxy }) {
      await proxy.refuse(true);
      proxy.cut();
    },
    end: ({ proxy }) => proxy.refuse(false),
  },
  {
    name: "heard no more, though it hears",
    begin: ({ proxy }) => proxy.swallowReplies(true),
    end({ proxy }) {
      proxy.swallowReplies(false);
      proxy.cut();
    },
  },
  {
    name: "full",
    begin: ({ redis }) => tell(redis.port, "CONFIG SET maxmemory 1"),
    end: ({ redis }) => tell(redis.port, "CONFIG SET maxmemory 0"),
  },
  {
    name: "read-only",
    begin: async ({ redis }) => tell(redis.port, `REPLICAOF 127.0.0.1 ${await freePort()}`),
    end: ({ redis }) => tell(redis.port, "REPLICAOF NO ONE"),
  },
];

const connects = { ioredis, "node-redis": nodeRedis };
const rows = faults.flatMap((fault) =>
  Object.entries(connects).map(([client, connect]) => ({ fault, client, connect, name: fault.name })),
);

describe("a gate whose Redis is", () => {
  it.each(rows)(
    "$name ($client): answers in time and without error, holds and lists stay in force, counting resumes by itself",
    async ({ fault, connect }) => {
      const redis = await own(startRedis());
      const place = { redis, proxy: await own(faultProxy(redis.port)) };
      const { gate, told } = gateOn(connect(place.proxy.port));
      await settle(gate);
      expect(gate.metrics().degraded).toBe(false);

      const traffic = keepComing(gate);
      await sleep(50);
      await fault.begin(place);
      const began = performance.now();
      await until("the gate to say so", async () => gate.metrics().degraded, 5000);
      await sleep(3 * breaker.pauseMs);
      const lastedMs = performance.now() - began;
      const answers = await traffic.stop();

      expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(answers.flatMap(({ name, decision }) => (decision && wrongIn(name, decision)) ?? [])).toEqual(
        [],
      );
      expect(answers.filter(({ ms }) => ms > 3 * deadlineMs).length).toBeLessThan(4);
      const waiting = answers.filter(({ ms, wasDegraded }) => wasDegraded && ms >= deadlineMs);
      expect(waiting.length).toBeLessThanOrEqual(1 + lastedMs / breaker.pauseMs);
      expect(told[0]).toBe("degraded");
      expect(gate.metrics().withoutStore).toBeGreaterThan(10);
      expect((await gate.decide(clients.anyone)).source).toBe("local");

      await fault.end(place);
      await until("counting to resume", async () => {
        const { source } = await gate.decide(clients.anyone);
        return source === "store" && !gate.metrics().degraded;
      });
      expect(told.at(-1)).toBe("recovered");
      const { verdict } = await gate.decide(clients.anyone);
      expect((await gate.decide(clients.anyone)).verdict?.remaining).toBe((verdict?.remaining as number) - 1);
    },
    30_000,
  );
});
