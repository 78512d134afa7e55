import { concurrency, createGate, type Decision, memoryStore, type RuleOptions } from "tidegate";
import { subjectOf, virtualClock } from "tidegate/testing";
import { describe, expect, it } from "vitest";
import { cacheSeconds } from "./nginx-cache.js";
import { policyNotes } from "./policy-notes.js";

const start = 1_700_000_040_000;

/** For how long nginx may repeat the refusal after so many requests. */
async function secondsFor(rule: Partial<RuleOptions>, requests = 2, atMs = 0): Promise<number> {
  const clock = virtualClock(start);
  const gate = createGate({
    store: memoryStore({ clock }),
    rules: [{ name: "r", by: "ip", limits: "1 per 1m", ...rule } as RuleOptions],
    onWarning: () => {},
  });
  clock.advance(atMs);
  let decision: Decision | undefined;
  for (let i = 0; i < requests; i++) decision = await gate.decide(subjectOf("203.0.113.7", { user: "1" }));
  return cacheSeconds(decision as Decision, policyNotes(gate)());
}

describe("nginx repeats a refusal by itself", () => {
  it("when every request of the address would be refused, five seconds at most", async () => {
    expect(await secondsFor({})).toBe(5);
    expect(await secondsFor({ by: "network" })).toBe(5);
    expect(await secondsFor({ by: ["ip"], cost: 1 })).toBe(5);
    expect(await secondsFor({ hold: { for: "1h", everywhere: true }, only: "/" }, 3)).toBe(5);
  });

  it("not where each customer of the address has limits of its own", async () => {
    const gate = createGate({
      rules: [{ name: "r", by: "ip", limits: "tier" }],
      tiers: { free: ["1 per hour"] },
      onWarning: () => {},
    });
    await gate.decide(subjectOf("203.0.113.7"));
    expect(cacheSeconds(await gate.decide(subjectOf("203.0.113.7")), policyNotes(gate)())).toBe(0);
  });

  it("never beyond its end", async () => {
    expect(await secondsFor({}, 2, 56_500)).toBe(3);
    expect(await secondsFor({}, 2, 59_500)).toBe(0);
  });

  it.each<[string, Partial<RuleOptions>]>([
    ["for some paths only", { only: "/" }],
    ["except some", { except: "/x" }],
    ["by more than the address", { by: ["ip", "path"] }],
    ["by a user", { by: "user" }],
    ["of a weight of its own", { cost: () => 1 }],
    ["that may be given back", { count: "failures" }],
    ["that a lease's end may lift", { limits: concurrency({ limit: 1, leaseFor: "1h" }) }],
    ["in shadow", { mode: "shadow" }],
  ])("not a rule %s", async (_, rule) => {
    expect(await secondsFor(rule)).toBe(0);
  });

  it("not what was allowed", async () => {
    expect(await secondsFor({}, 1)).toBe(0);
  });
});
