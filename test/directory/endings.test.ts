import { afterEach, describe, expect, it } from "vitest";
import { createGate, type Gate } from "../../packages/tidegate/src/index.js";
import { redisStore } from "../../packages/tidegate/src/stores/redis/index.js";
import { subjectOf } from "../../packages/tidegate/src/testing/subject.js";
import { clients, ioredis, own } from "../faults/support.js";
import { startRedis } from "../servers/index.js";
import { soon } from "./support.js";

const gates: Gate[] = [];
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close();
});

describe.each(Object.keys(clients))("in a Redis that reports no expiry, through %s", (name) => {
  it("a tier and an override with a TTL end with it", async () => {
    const { port } = await own(startRedis({ args: ["--enable-debug-command", "yes"] }));
    const cli = ioredis(port);
    await cli.call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
    await cli.set("tg:customer:42:tier", "pro");
    await cli.hset("tg:customer:42:limits", { 60: 7 });
    const client = (clients[name] as (port: number) => object)(port);
    const gate = createGate({
      store: redisStore({ client }),
      rules: [{ name: "api", by: "customer", limits: "tier" }],
      tiers: { free: ["1000 per hour"], pro: ["100000 per hour"] },
      deadlineMs: 10_000,
      onWarning: () => {},
    });
    gates.push(gate);
    await gate.ready;
    const visit = subjectOf("203.0.113.7", { customer: "42" });
    const tierNow = async () => (await gate.decide(visit)).verdict?.tier;

    expect(await tierNow()).toBe("override");
    await cli.pexpire("tg:customer:42:limits", 300);
    await soon("the tier again", async () => (await tierNow()) === "pro");
    await cli.pexpire("tg:customer:42:tier", 300);
    await soon("the default tier", async () => (await tierNow()) === "free");
  });
});
