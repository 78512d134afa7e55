import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Cluster, Redis } from "ioredis";
import type { Check } from "tidegate";
import { redisStore } from "tidegate/redis";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Orders } from "./hammer.js";
import { shapes } from "./shapes.js";

const processes = 4;
let children: ChildProcess[];

beforeAll(async () => {
  const script = fileURLToPath(new URL("./hammer.ts", import.meta.url));
  children = Array.from({ length: processes }, () => fork(script, { execArgv: ["--import", "tsx"] }));
  await Promise.all(children.map(heard));
});
afterAll(() => {
  for (const child of children) child.kill();
});

/** Lets them all go at once, and adds up what they let through. */
async function hammer(orders: Omit<Orders, "inFlight">): Promise<number> {
  const ready = children.map(heard);
  children.forEach((child, i) => void child.send({ ...orders, inFlight: 1 + i * 20 } satisfies Orders));
  await Promise.all(ready);
  const answers = children.map(heard);
  for (const child of children) child.send("go");
  const counts = (await Promise.all(answers)) as { allowed: number }[];
  return counts.reduce((sum, { allowed }) => sum + allowed, 0);
}

async function heard(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  child.once("exit", () => ended.abort());
  const [message] = await once(child, "message", { signal: ended.signal });
  return message;
}

describe(`${processes} processes on one Redis key`, () => {
  const ports = [inject("redisPort")];

  it.each(["one limit", "three limits", "a sliding log", "a log beside a window"] as const)(
    "let exactly the limit through: %s",
    async (shape) => {
      const prefix = `t:${crypto.randomUUID()}`;
      expect(await hammer({ ports, prefix, shape, calls: 500 })).toBe(100);
      const client = new Redis(ports[0] as number);
      const verdicts = await redisStore({ client, prefix }).peek(shapes[shape](0));
      client.disconnect();
      for (const { limit, remaining } of verdicts) expect(limit - remaining).toBe(100);
    },
  );
});

describe(`${processes} processes on a cluster, two keys in one decision`, () => {
  it("never let more than either limit through, and once all is quiet the counts are what was allowed", async () => {
    const ports = inject("redisClusterPorts");
    const prefix = `t:${crypto.randomUUID()}`;
    const allowed = await hammer({ ports, prefix, shape: "two keys", calls: 150 });
    expect(allowed).toBeGreaterThan(0);
    expect(allowed).toBeLessThanOrEqual(100);
    const client = new Cluster(ports.map((port) => ({ host: "127.0.0.1", port })));
    const store = redisStore({ client, prefix });
    const checks = [0, 1, 2, 3].flatMap((i) => shapes["two keys"](i)).filter(onceEach);
    const used = (await store.peek(checks)).map(({ limit, remaining }) => limit - remaining);
    client.disconnect();
    const [everyone, ...clients] = used as [number, ...number[]];
    expect(everyone).toBe(allowed);
    expect(clients).toHaveLength(4);
    expect(clients.reduce((sum, count) => sum + count)).toBe(allowed);
    for (const count of clients) expect(count).toBeLessThanOrEqual(40);
  });
});

function onceEach(check: Check, i: number, all: readonly Check[]): boolean {
  return all.findIndex(({ key }) => key === check.key) === i;
}
