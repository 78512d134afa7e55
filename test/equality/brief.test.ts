import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGate, fixedWindow, type Gate, memoryStore, slidingLog, tokenBucket } from "../index.js";
import type { Subject } from "../subject.js";
import { subjectOf } from "../testing/subject.js";
import { virtualClock } from "../testing/virtual-clock.js";
import type { RuleOptions } from "./rule-options.js";

const tiers = {
  free: [fixedWindow({ limit: 3, window: "1m" })],
  pro: [fixedWindow({ limit: 9, window: "1m" }), fixedWindow({ limit: 20, window: "1h" })],
};

/** A text, nothing, an object, or an error. */
function oddKey({ user, customer }: Subject): string | undefined {
  if (user === "bob" && customer !== undefined) throw new Error("no key");
  return customer === "acme" ? ({} as string) : user;
}

const limits = fc.constantFrom<RuleOptions["limits"]>(
  "tier",
  "4 per 1m",
  ["6 per 10s", "15 per 5m"],
  tokenBucket({ rate: 1, per: "1s", burst: 5 }),
  fixedWindow({ limit: 5, window: "1m", countRefused: true }),
  slidingLog({ limit: 6, window: "1m" }),
);
const rule = fc.record(
  {
    by: fc.constantFrom<RuleOptions["by"]>("ip", "user", "customer", "header:x-key", ["ip", "user"], oddKey),
    limits,
    only: fc.constantFrom("/a", "POST /a", "/a/b"),
    mode: fc.constantFrom("off" as const, "enforce" as const),
  },
  { requiredKeys: ["by", "limits"] },
);
const subject = fc
  .record({
    ip: fc.constantFrom("203.0.113.7", "203.0.113.8", "2001:db8::1", "2001:db8:0:1::1", "nonsense"),
    method: fc.constantFrom("GET", "POST"),
    path: fc.constantFrom("/a", "/a/b", "/a/../a", "/c"),
    user: fc.constantFrom(undefined, "ann", "bob"),
    customer: fc.constantFrom(undefined, "acme", "umbrella"),
    key: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ key, ...facts }): Subject => {
    const header = (name: string) => (name === "x-key" && key > 0 ? `key ${key}` : undefined);
    return { host: "example.com", header, ...facts };
  });

/** Seldom something is changed between two visits. */
const change = fc.oneof(
  { weight: 8, arbitrary: fc.constant(() => {}) },
  fc.constantFrom<(gate: Gate) => unknown>(
    (gate) => gate.customers.setTier("umbrella", "pro"),
    (gate) => gate.customers.setLimits("umbrella", { 60: 4 }),
    (gate) => gate.customers.setLimits("umbrella", undefined),
    (gate) => gate.clear({ ip: "203.0.113.7", user: "ann", customer: "acme" }),
    (gate) => gate.update({ ...gate.policy, rules: gate.policy.rules.toReversed() }),
  ),
);

describe("a brief policy", () => {
  it("counts no rule as judging that asked nothing of a key beyond its block's share", async () => {
    const clock = virtualClock(1_700_000_000_000);
    const open = () =>
      createGate({
        rules: [
          {
            name: "key",
            by: "header:x-key",
            limits: [fixedWindow({ limit: 50, window: "1m", countRefused: true })],
          },
        ],
        newKeysPerSecond: 1,
        store: memoryStore({ clock }),
      });
    const [brief, long] = [open(), open()];
    for (let i = 0; i < 6; i++) {
      const visit = subjectOf("203.0.113.7", { headers: { "x-key": `key ${i}` } });
      await brief.decide(visit);
      await long.decide(visit, { cost: 1 });
    }
    expect(brief.metrics()).toEqual(long.metrics());
    expect(brief.metrics().byRule).toMatchObject({ key: { judged: 1 }, "key crowd": { judged: 5 } });
  });

  it("decides as it would if every rule were asked at length", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rule, { minLength: 1, maxLength: 5 }),
        fc.array(fc.tuple(subject, fc.nat(8000), change), { minLength: 20, maxLength: 60 }),
        async (rules, visits) => {
          const clock = virtualClock(1_700_000_000_000);
          const [brief, long] = await Promise.all(
            [0, 1].map(async () => {
              const gate = createGate({
                rules: rules.map((one, i) => ({ name: `rule ${i}`, ...one })),
                tiers,
                defaultTier: "free",
                newKeysPerSecond: 3,
                store: memoryStore({ clock }),
                onWarning() {},
              });
              await gate.customers.setTier("acme", "pro");
              return gate;
            }),
          );
          for (const [visit, pauseMs, changed] of visits) {
            clock.advance(pauseMs);
            for (const gate of [brief, long]) await changed(gate as Gate);
            const { id, ...short } = (await brief?.decide(visit)) ?? { id: "" };
            // Whoever names a cost is asked about at length.
            expect({ ...(await long?.decide(visit, { cost: 1 })), id }).toEqual({ ...short, id });
          }
          const [counted, expected] = [brief?.metrics(), long?.metrics()];
          expect(counted).toEqual(expected);
        },
      ),
    );
  });
});
