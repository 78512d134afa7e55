import { Redis } from "ioredis";
import { afterAll, describe, expect, inject, it, vi } from "vitest";
import { createGate, createLimiter, slidingLog } from "../../index.js";
import { subjectOf } from "../../testing/subject.js";
import { redisStore } from "./redis-store.js";

const client = new Redis(inject("redisPort"));
afterAll(() => client.disconnect());

describe("requests of one tick", () => {
  it("share calls, whether a plain policy asks, a log, or a limiter", async () => {
    const store = redisStore({ client, prefix: `t:${crypto.randomUUID()}` });
    const gate = createGate({
      store,
      rules: [
        { name: "req/ip", by: "ip", limits: ["100 per hour"] },
        { name: "login", only: "/login", by: "ip", limits: [slidingLog({ limit: 5, window: "1h" })] },
      ],
    });
    const limiter = createLimiter({ name: "sms", limits: ["100 per hour"], store });
    await gate.decide(subjectOf("203.0.113.1"));
    const call = vi.spyOn(client, "callBuffer");
    const asked = Array.from({ length: 64 }, (_, i) => [
      gate.decide(subjectOf(`203.0.113.${i}`)),
      gate.decide(subjectOf(`203.0.113.${i}`, { path: "/login" })),
      limiter.consume(`user ${i}`),
    ]).flat();
    for (const { allowed } of await Promise.all<{ allowed: boolean }>(asked)) expect(allowed).toBe(true);
    const calls = call.mock.calls.length;
    call.mockRestore();
    // 192 requests, of which a quarter of those unanswered share one.
    expect(calls).toBeLessThan(24);
  });
});
