import fc from "fast-check";
import {
  createGate,
  type Decision,
  earrrl,
  fixedWindow,
  type Gate,
  memoryDirectory,
  memoryStore,
  type RuleOptions,
  type Subject,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from "tidegate";
import { subjectOf, virtualClock } from "tidegate/testing";
import { afterAll, describe, expect, it } from "vitest";
import { everyPlace } from "../holes/places.js";

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
  slidingCounter({ limit: 7, window: "30s" }),
  earrrl({ rate: "6 per minute", halfLife: "20s", overage: 0.5 }),
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

const everywhere = everyPlace();
const places = everywhere.filter(({ name }) => name === "memory" || name === "Redis");
afterAll(() => Promise.all(everywhere.map((place) => place.close())));

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

  for (const { name, open } of places) {
    it(`decides as it would if every rule were asked at length, on ${name}`, async () => {
      let dockets = 0;
      const property = fc.asyncProperty(
        fc.array(rule, { minLength: 1, maxLength: 5 }),
        fc.array(fc.tuple(fc.array(subject, { minLength: 1, maxLength: 20 }), fc.nat(8000), change), {
          minLength: 8,
          maxLength: 20,
        }),
        async (rules, visits) => {
          const clock = virtualClock(1_700_000_000_000);
          const gateOn = async () => {
            const store = open(clock);
            const { askDocket } = store;
            if (askDocket !== undefined)
              store.askDocket = (...args) => {
                const asked = askDocket.apply(store, args);
                if (asked !== undefined) dockets++;
                return asked;
              };
            const gate = createGate({
              rules: rules.map((one, i) => ({ name: `rule ${i}`, ...one })),
              tiers,
              defaultTier: "free",
              newKeysPerSecond: 3,
              store,
              directory: memoryDirectory({ clock }),
              onWarning() {},
            });
            await gate.customers.setTier("acme", "pro");
            return gate;
          };
          const [brief, long] = [await gateOn(), await gateOn()];
          for (const [burst, pauseMs, changed] of visits) {
            clock.advance(pauseMs);
            for (const gate of [brief, long]) await changed(gate);
            const short = await Promise.all(burst.map((visit) => brief.decide(visit)));
            // Whoever names a cost is asked about at length.
            const full = await Promise.all(burst.map((visit) => long.decide(visit, { cost: 1 })));
            expect(full.map(withoutId)).toEqual(short.map(withoutId));
          }
          expect(brief.metrics()).toEqual(long.metrics());
        },
      );
      await fc.assert(property, { numRuns: name === "memory" ? 100 : 40 });
      expect(dockets > 0).toBe(name === "Redis");
    });
  }
});

const withoutId = ({ id, ...decision }: Decision) => decision;
