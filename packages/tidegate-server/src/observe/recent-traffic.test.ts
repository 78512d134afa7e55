import { createGate, type Gate, type Subject } from "tidegate";
import { describe, expect, it, onTestFinished } from "vitest";
import { recentTraffic } from "./recent-traffic.js";

function gateOf(rules: Parameters<typeof createGate>[0]["rules"] = []): Gate {
  const gate = createGate({ rules, onWarning: () => {} });
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

describe("recent traffic", () => {
  it("is every request, let in or refused, with what rules count by and how it ended", async () => {
    const gate = gateOf([{ name: "req/ip", by: "ip", limits: "1 per hour" }]);
    const recent = recentTraffic(gate, { keep: 10 });
    const passed = await gate.decide(subjectOf({ customer: "42", user: "ann" }, { "user-agent": "curl/8" }));
    recent.ended(passed, 401);
    await gate.decide(subjectOf());
    expect(recent.read(0, 10).requests).toEqual([
      {
        at: expect.any(Number),
        ip: "203.0.113.7",
        method: "POST",
        host: "shop.example",
        path: "/login",
        userAgent: "curl/8",
        user: "ann",
        customer: "42",
        status: 401,
        tookMs: expect.any(Number),
      },
      { at: expect.any(Number), ip: "203.0.113.7", method: "POST", host: "shop.example", path: "/login" },
    ]);
  });

  it("holds nothing secret: no query, no header but the user agent, no account no rule counts by", async () => {
    const gate = gateOf([{ name: "req/ip", by: "ip", limits: "9 per hour" }]);
    const recent = recentTraffic(gate, { keep: 10 });
    const headers = { authorization: "hunter2", cookie: "hunter2", "x-api-key": "hunter2" };
    await gate.decide(subjectOf({ account: "hunter2" }, headers));
    expect(JSON.stringify(recent.read(0, 10))).not.toContain("hunter2");
    const logins = gateOf([{ name: "login", by: ["ip", "account"], limits: "9 per hour" }]);
    const kept = recentTraffic(logins, { keep: 10 });
    await logins.decide(subjectOf({ account: "ann" }));
    expect(kept.read(0, 10).requests[0]?.account).toBe("ann");
  });

  it("is bounded: the newest are kept, oldest first, and long texts are cut", async () => {
    const gate = gateOf();
    const recent = recentTraffic(gate, { keep: 3 });
    for (let i = 0; i < 8; i++) await gate.decide(subjectOf({ path: `/${i}` }));
    expect(recent.read(0, 10).requests.map(({ path }) => path)).toEqual(["/5", "/6", "/7"]);
    await gate.decide(subjectOf({ path: `/${"x".repeat(100_000)}` }));
    expect(recent.read(0, 10).requests.at(-1)?.path).toHaveLength(200);
  });

  it("is read in pages, and those that were overwritten meanwhile are left out", async () => {
    const gate = gateOf();
    const recent = recentTraffic(gate, { keep: 4 });
    for (let i = 0; i < 4; i++) await gate.decide(subjectOf({ path: `/${i}` }));
    const first = recent.read(0, 3);
    expect([first.requests.map(({ path }) => path), first.next]).toEqual([["/0", "/1", "/2"], 3]);
    for (let i = 4; i < 9; i++) await gate.decide(subjectOf({ path: `/${i}` }));
    const second = recent.read(first.next as number, 3);
    expect([second.requests.map(({ path }) => path), second.next]).toEqual([["/5", "/6", "/7"], 8]);
    expect(recent.read(8, 3)).toMatchObject({ requests: [{ path: "/8" }] });
    expect(recent.read(9, 3)).toEqual({ requests: [] });
  });

  it("hears no more once it is closed", async () => {
    const gate = gateOf();
    const recent = recentTraffic(gate, { keep: 4 });
    recent.close();
    await gate.decide(subjectOf());
    expect(recent.read(0, 4)).toEqual({ requests: [] });
  });
});
