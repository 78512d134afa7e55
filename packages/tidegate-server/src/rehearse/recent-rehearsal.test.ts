import { createGate, type Gate, type Policy } from "tidegate";
import { describe, expect, it, onTestFinished } from "vitest";
import type { KeptRequest } from "../kept-request.js";
import { recentRehearsal } from "./recent-rehearsal.js";

const inForce: Policy = {
  rules: [{ name: "req/ip", by: "ip", limits: ["100 per hour"] }],
};

function gateOf(policy: Policy = inForce): Gate {
  const gate = createGate({ ...policy, onWarning: () => {} });
  onTestFinished(() => gate.close());
  return gate;
}

const begun = Date.UTC(2026, 0, 31, 12);

function requests(count: number, facts: Partial<KeptRequest> = {}): KeptRequest[] {
  return Array.from({ length: count }, (_, i) => ({
    at: begun + i * 100,
    ip: "203.0.113.7",
    method: "GET",
    host: "shop.example",
    path: "/",
    userAgent: "curl/8",
    ...facts,
  }));
}

/** The policy is handed over as it is: how texts are read is another's promise. */
async function rehearsed(
  policy: Policy,
  traffic: readonly KeptRequest[],
  gate = gateOf(),
  isCompared = true,
) {
  const rehearsal = recentRehearsal({
    traffic: async () => traffic,
    parse: () => policy,
    gate,
    identity: {},
  });
  const report = await rehearsal.begin("", { isCompared });
  if (report === undefined) throw new Error("another one is under way");
  return report;
}

const strict: Policy = { rules: [{ name: "req/ip", by: "ip", limits: ["4 per hour"] }] };

describe("a rehearsal on recent traffic", () => {
  it("tells who would be refused, and what changes against the policy in force; the gate's own counts stay", async () => {
    const gate = gateOf();
    const report = await rehearsed(strict, requests(10), gate);
    expect(report).toMatchObject({
      requests: 10,
      outcome: { allowed: 4, refused: 6 },
      against: { allowed: 10, refused: 0 },
      change: { newlyRefused: { requests: 6, clients: 1 } },
    });
    expect(gate.metrics().decisions).toBe(0);
    expect((await rehearsed(strict, requests(10), gate, false)).against).toBeUndefined();
  });

  it("lists hold as they are now, under both policies", async () => {
    const gate = gateOf();
    await gate.safelist.add("203.0.113.7", { who: "ann" });
    await gate.blocklist.add("198.51.100.0/24", { who: "ann" });
    const traffic = [...requests(10), ...requests(3, { ip: "198.51.100.9" })];
    const report = await rehearsed(strict, traffic, gate);
    expect(report).toMatchObject({
      outcome: { allowed: 10, refused: 3 },
      against: { allowed: 10, refused: 3 },
      change: { newlyRefused: { requests: 0 } },
    });
  });

  it("customers are judged by the tier, or the limits of their own, that they have now", async () => {
    const tiers: Policy = {
      rules: [{ name: "api", by: "customer", limits: "tier" }],
      tiers: { free: ["2 per hour"], pro: ["5 per hour"] },
    };
    const gate = gateOf(tiers);
    await gate.customers.setTier("acme", "pro");
    await gate.customers.setLimits("own", { 3600: 7 });
    const report = await rehearsed(
      tiers,
      ["nobody", "acme", "own"].flatMap((customer) => requests(10, { customer })),
      gate,
    );
    expect(report.outcome).toMatchObject({ allowed: 2 + 5 + 7, refused: 8 + 5 + 3 });
  });

  it("failures are counted by how requests ended", async () => {
    const login: Policy = {
      rules: [{ name: "login", by: "ip", limits: ["3 per hour"], count: "failures" }],
    };
    const well = await rehearsed(login, requests(10, { status: 200 }));
    expect(well.outcome.refused).toBe(0);
    const guessing = await rehearsed(login, requests(10, { status: 401 }));
    expect(guessing.outcome.refused).toBe(7);
    const untold = await rehearsed(login, requests(10));
    expect(untold.notes.join(" ")).toContain("How some requests ended is not known");
  });

  it("says which rules it can not judge, for what they count by is not kept", async () => {
    const byKey: Policy = { rules: [{ name: "keys", by: "apiKey", limits: ["1 per hour"] }] };
    const { notes, rules } = await rehearsed(byKey, requests(5));
    expect(notes.join(" ")).toContain("could not be judged as they will be: keys.");
    expect(rules).toMatchObject([{ rule: "keys", silence: "never-applies" }]);
  });

  it("is one at a time, and lets everything else have its turn meanwhile", async () => {
    const traffic = requests(50_000);
    const rehearsal = recentRehearsal({
      traffic: async () => traffic,
      parse: () => strict,
      gate: gateOf(),
      identity: {},
    });
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const first = rehearsal.begin("", { isCompared: true });
    expect(rehearsal.begin("", { isCompared: true })).toBeUndefined();
    expect((await first)?.requests).toBe(50_000);
    isOver = true;
    expect(turns).toBeGreaterThan(3);
    const next = await rehearsal.begin("", { isCompared: false });
    expect(next?.outcome.allowed).toBe(4 * Math.ceil((50_000 * 100) / 3_600_000));
  });

  it("of no traffic is a report of nothing", async () => {
    expect(await rehearsed(strict, [])).toMatchObject({ requests: 0, outcome: { refused: 0 } });
  });
});
