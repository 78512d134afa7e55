import { describe, expect, it } from "vitest";
import type { Decision } from "../decision.js";
import { createGate, type Gate, loginRules, memoryStore } from "../index.js";
import { subjectOf } from "../testing/subject.js";
import { type VirtualClock, virtualClock } from "../testing/virtual-clock.js";

function open(): { gate: Gate; clock: VirtualClock } {
  const clock = virtualClock(1_700_000_000_000);
  return { gate: createGate({ store: memoryStore({ clock }), rules: loginRules() }), clock };
}

function login(gate: Gate, ip: string, account: string): Promise<Decision> {
  return gate.decide(subjectOf(ip, { method: "POST", path: "/login", account }));
}

/** Answers whether the attempt got as far as the password. */
async function attempt(gate: Gate, ip: string, account: string, status: number): Promise<boolean> {
  const decision = await login(gate, ip, account);
  await decision.finish({ status });
  return decision.allowed;
}

describe("login rules", () => {
  it("have one mode, or each its own; others are refused by name", () => {
    const modes = (mode: Parameters<typeof loginRules>[0]) => loginRules(mode).map((rule) => rule.mode);
    expect(modes({})).toEqual([undefined, undefined, undefined]);
    expect(modes({ mode: "shadow" })).toEqual(["shadow", "shadow", "shadow"]);
    expect(modes({ mode: { account: "off", ip: "enforce" } })).toEqual([undefined, "enforce", "off"]);
    expect(() => loginRules({ mode: { all: "off" } as never })).toThrow("loginRules.mode.all");
    expect(() => createGate({ rules: loginRules({ mode: "loud" as never }) })).toThrow("mode");
  });

  it("failures make the wait grow, up to an hour and no further", async () => {
    const { gate, clock } = open();
    const waits: number[] = [];
    for (let i = 0; i < 60; i++) {
      if (await attempt(gate, "203.0.113.7", "bob", 401)) continue;
      const wait = (await login(gate, "203.0.113.7", "bob")).verdict?.retryAfterMs ?? 0;
      waits.push(wait);
      clock.advance(wait);
    }
    expect(Math.max(...waits.slice(0, 1))).toBeLessThanOrEqual(10_000);
    expect(Math.max(...waits)).toBeGreaterThan(1_800_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(3_600_000);
  });

  it("a thousand parallel guesses do not slip through", async () => {
    const { gate } = open();
    const decisions = await Promise.all(
      Array.from({ length: 1000 }, () => login(gate, "203.0.113.7", "bob")),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(3);
  });

  it("logins that succeed are never limited", async () => {
    const { gate } = open();
    for (let i = 0; i < 500; i++) expect(await attempt(gate, "203.0.113.7", "bob", 303)).toBe(true);
  });

  it("a success clears the pair only", async () => {
    const { gate } = open();
    for (let i = 0; i < 2; i++) await attempt(gate, "203.0.113.7", "bob", 401);
    for (let i = 0; i < 2; i++) await attempt(gate, "203.0.113.7", "eve", 401);
    await attempt(gate, "203.0.113.7", "bob", 200);
    const { rules } = await gate.explain(
      subjectOf("203.0.113.7", { method: "POST", path: "/login", account: "bob" }),
    );
    expect(rules.map(({ verdicts }) => verdicts[0]?.remaining)).toEqual([3, 16, 48]);
    const eve = await gate.explain(
      subjectOf("203.0.113.7", { method: "POST", path: "/login", account: "eve" }),
    );
    expect(eve.rules[0]?.verdicts[0]?.remaining).toBe(1);
  });

  it("one stranger can not lock the owner out", async () => {
    const { gate } = open();
    for (let i = 0; i < 1000; i++) await attempt(gate, "198.51.100.66", "bob", 401);
    expect(await attempt(gate, "203.0.113.7", "bob", 200)).toBe(true);
  });

  it("nor can a thousand: an address the account logged in from is not refused for what others did", async () => {
    const { gate, clock } = open();
    await attempt(gate, "203.0.113.7", "Bob", 200);
    clock.advance("20d");
    let guesses = 0;
    for (let i = 0; i < 1000; i++)
      guesses += Number(await attempt(gate, `198.51.${i >> 8}.${i & 255}`, "bob", 401));
    expect(guesses).toBe(50);
    expect(await attempt(gate, "198.51.200.1", "bob", 200)).toBe(false);
    expect(await attempt(gate, "203.0.113.7", "bob", 200)).toBe(true);
  });

  it("what the account's rule refuses is charged to no other rule", async () => {
    const { gate } = open();
    for (let i = 0; i < 50; i++) await attempt(gate, `198.51.100.${i}`, "bob", 401);
    expect(await attempt(gate, "198.51.100.200", "bob", 401)).toBe(false);
    const { rules } = await gate.explain(
      subjectOf("198.51.100.200", { method: "POST", path: "/login", account: "bob" }),
    );
    expect(rules[0]?.verdicts[0]?.remaining).toBe(3);
    expect(rules[1]?.verdicts[0]?.remaining).toBe(20);
  });

  it("guessing many accounts from one address is refused by address", async () => {
    const { gate } = open();
    let guesses = 0;
    for (let i = 0; i < 200; i++) guesses += Number(await attempt(gate, "203.0.113.7", `user${i}`, 401));
    expect(guesses).toBe(20);
  });
});
