import { createGate, type Gate, type Subject } from "tidegate";
import { describe, expect, it, onTestFinished } from "vitest";
import { recentDecisions } from "./recent-decisions.js";

function gateOf(rules: Parameters<typeof createGate>[0]["rules"] = []): Gate {
  const gate = createGate({ rules, blocklist: ["203.0.113.0/24"], onWarning: () => {} });
  onTestFinished(() => gate.close());
  return gate;
}

function subjectOf(facts: Partial<Subject> = {}, headers: Record<string, string> = {}): Subject {
  return {
    ip: "203.0.113.7",
    method: "POST",
    host: "shop.example",
    path: "/login?token=hunter2",
    header: (name) => headers[name],
    ...facts,
  };
}

async function refused(gate: Gate, facts?: Partial<Subject>, headers?: Record<string, string>) {
  return (await gate.decide(subjectOf(facts, headers))).id;
}

describe("recent decisions", () => {
  it("are those refused, with who it was and what decided", async () => {
    const gate = gateOf([{ name: "req/ip", by: "ip", limits: "1 per hour" }]);
    const recent = recentDecisions(gate);
    const passed = await refused(gate, { ip: "198.51.100.1" });
    const over = await refused(gate, { ip: "198.51.100.1", customer: "42" }, { "user-agent": "curl/8" });
    const listed = await refused(gate);
    expect(recent.find(passed)).toBeUndefined();
    expect(recent.find(over)).toMatchObject({
      id: over,
      at: expect.any(Number),
      reason: "over-limit",
      verdict: { rule: "req/ip", limit: 1, remaining: 0 },
      verdicts: [{ rule: "req/ip" }],
      about: {
        ip: "198.51.100.1",
        method: "POST",
        host: "shop.example",
        customer: "42",
        userAgent: "curl/8",
      },
    });
    expect(recent.find(listed)).toMatchObject({
      reason: "blocklist",
      listed: { address: "203.0.113.0/24" },
      verdicts: [],
    });
  });

  it("hold nothing secret: no query, no header but the user agent, no account no rule counts by", async () => {
    const gate = gateOf([{ name: "req/ip", by: "ip", limits: "0 per hour" }]);
    const recent = recentDecisions(gate);
    const headers = { authorization: "hunter2", cookie: "hunter2", "user-agent": "curl/8" };
    const id = await refused(gate, { ip: "198.51.100.1", account: "hunter2" }, headers);
    expect(recent.find(id)?.about.path).toBe("/login");
    expect(JSON.stringify(recent.find(id))).not.toContain("hunter2");
  });

  it("name the account a rule counts by", async () => {
    const gate = gateOf([{ name: "login", by: ["ip", "account"], limits: "0 per hour" }]);
    const recent = recentDecisions(gate);
    const id = await refused(gate, { ip: "198.51.100.1", account: "Eva" });
    expect(recent.find(id)?.about.account).toBe("Eva");
  });

  it("cut what is long", async () => {
    const gate = gateOf();
    const recent = recentDecisions(gate);
    const long = `/${"ü".repeat(5_000)}`;
    const id = await refused(gate, { path: long, host: long, user: long }, { "user-agent": long });
    const { path, host, user, userAgent } = recent.find(id)?.about ?? {};
    for (const fact of [path, host, user, userAgent]) expect(fact).toBe(long.slice(0, 200));
  });

  it("are forgotten oldest first when there are too many", async () => {
    const gate = gateOf();
    const recent = recentDecisions(gate, { most: 3 });
    const ids: string[] = [];
    for (let i = 0; i < 50; i++) {
      ids.push(await refused(gate));
      expect(ids.filter((id) => recent.find(id) !== undefined)).toEqual(ids.slice(-3));
    }
  });

  it("are forgotten oldest first when they take too much room, but for the last one", async () => {
    const gate = gateOf();
    const recent = recentDecisions(gate, { mostBytes: 7_000 });
    const ids: string[] = [];
    for (let i = 0; i < 50; i++) ids.push(await refused(gate));
    const kept = ids.filter((id) => recent.find(id) !== undefined);
    expect(kept.length).toBeGreaterThan(2);
    expect(kept.length).toBeLessThan(10);
    expect(kept).toEqual(ids.slice(-kept.length));
    const one = recentDecisions(gate, { mostBytes: 1 });
    const last = await refused(gate);
    expect(one.find(last)?.id).toBe(last);
  });

  it("end with whoever remembered them", async () => {
    const gate = gateOf();
    const recent = recentDecisions(gate);
    const id = await refused(gate);
    recent.close();
    expect(recent.find(id)).toBeUndefined();
    expect(recent.find(await refused(gate))).toBeUndefined();
  });

  it("tell whose they are, by address: within blocks, or under the key a rule counted by", async () => {
    const gate = gateOf([{ name: "who", by: "user", limits: "0 per hour" }]);
    const recent = recentDecisions(gate, { most: 4 });
    await refused(gate, { ip: "203.0.113.9" });
    await refused(gate, { ip: "198.51.100.1", user: "ann" }, { "user-agent": "first" });
    await refused(gate, { ip: "198.51.100.1", user: "ann" }, { "user-agent": "last" });
    await refused(gate, { ip: "2001:db8::1", user: "bob" });
    await refused(gate, { ip: "203.0.113.7" });
    const found = (filter: Parameters<typeof recent.clients>[0]) =>
      recent.clients(filter).map(({ ip, refused: times }) => [ip, times]);
    expect(found({})).toEqual([
      ["198.51.100.1", 2],
      ["2001:db8::1", 1],
      ["203.0.113.7", 1],
    ]);
    expect(found({ within: ["203.0.113.0/24", "2001:db8::1"] })).toEqual([
      ["2001:db8::1", 1],
      ["203.0.113.7", 1],
    ]);
    expect(recent.clients({ key: "ann" })).toMatchObject([
      { ip: "198.51.100.1", refused: 2, about: { userAgent: "last" } },
    ]);
    expect(recent.clients({ key: "ann" })[0]?.lately).toMatchObject([
      { about: { userAgent: "last" } },
      { about: { userAgent: "first" } },
    ]);
    expect(found({ key: "ann", within: ["192.0.2.0/24"] })).toEqual([]);
    recent.close();
    expect(found({})).toEqual([]);
  });

  it("tell of one client the newest fifty that differ, each once", async () => {
    const gate = gateOf();
    const recent = recentDecisions(gate);
    for (let i = 0; i < 60; i++) await refused(gate, { path: `/${i}` });
    for (let i = 0; i < 3; i++) await refused(gate, { path: "/40" });
    const [{ lately, refused: times } = { lately: [], refused: 0 }] = recent.clients({});
    expect(times).toBe(63);
    const paths = Array.from({ length: 50 }, (_, i) => `/${59 - i}`).filter((path) => path !== "/40");
    expect(lately.map(({ about }) => about.path)).toEqual(["/40", ...paths]);
  });
});
