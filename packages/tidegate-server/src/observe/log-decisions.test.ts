import { createGate, type Gate, memoryStore, type Store } from "tidegate";
import { afterEach, describe, expect, it, vi } from "vitest";
import { logDecisions } from "./log-decisions.js";
import { openLog } from "./open-log.js";

const open: Gate[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((gate) => gate.close()));
});

function gateWith(options: Partial<Parameters<typeof createGate>[0]> = {}): Gate {
  const gate = createGate({
    rules: [{ name: "req/ip", by: "ip", limits: ["1 per hour"] }],
    onWarning: () => {},
    ...options,
  });
  open.push(gate);
  return gate;
}

function logged() {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: openLog({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) }) };
}

const request = (path = "/", ip = "203.0.113.7") => ({
  ip,
  method: "GET",
  host: "example.com",
  path,
  header: () => undefined,
});

/** For a machine that has much else to do. */
const patiently = { timeout: 15_000 };

describe("decisions in the log", () => {
  it("tell of a refusal: who, what, by which limit; never the query", async () => {
    const gate = gateWith();
    const { lines, log } = logged();
    const stop = logDecisions(gate, log);
    await gate.decide(request());
    const { id } = await gate.decide(request("/a?token=hush"));
    stop();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: "info",
      msg: "refused",
      decision: id,
      reason: "over-limit",
      rule: "req/ip",
      key: "203.0.113.7",
      limit: "req/ip/3600",
      client: "203.0.113.7",
      path: "/a",
      retryAfterMs: expect.any(Number),
    });
    expect(JSON.stringify(lines)).not.toContain("hush");
  });

  it("name the key, the customer and the user of whoever was refused by another rule than the address's", async () => {
    const gate = gateWith({ rules: [{ name: "customers", by: "customer", limits: ["1 per hour"] }] });
    const { lines, log } = logged();
    const stop = logDecisions(gate, log);
    for (let i = 0; i < 2; i++) await gate.decide({ ...request(), customer: "42", user: "eva" });
    stop();
    expect(lines).toMatchObject([{ rule: "customers", key: "42", customer: "42", user: "eva" }]);
  });

  it("of a flood tell the first few and the number of the others", async () => {
    const gate = gateWith({ blocklist: ["198.51.100.0/24"] });
    const { lines, log } = logged();
    const stop = logDecisions(gate, log, { most: 3, everyMs: 50 });
    for (let i = 0; i < 101; i++) await gate.decide(request());
    for (let i = 0; i < 50; i++) await gate.decide(request("/", "198.51.100.1"));
    await vi.waitFor(
      () => expect(lines.some(({ msg }) => msg === "more requests were refused")).toBe(true),
      patiently,
    );
    stop();
    expect(lines.filter(({ msg }) => msg === "refused").length).toBeLessThanOrEqual(12);
    const more = lines.filter(({ msg }) => msg === "more requests were refused") as { count: number }[];
    const told =
      lines.filter(({ msg }) => msg === "refused").length + more.reduce((sum, { count }) => sum + count, 0);
    expect(told).toBe(150);
  });

  it("tell the rest when they stop", async () => {
    const gate = gateWith();
    const { lines, log } = logged();
    const stop = logDecisions(gate, log, { most: 1, everyMs: 60_000 });
    for (let i = 0; i < 5; i++) await gate.decide(request());
    stop();
    expect(lines.at(-1)).toMatchObject({ count: 3, byRule: { "req/ip": 3 } });
    await gate.decide(request());
    expect(lines).toHaveLength(2);
  });

  it("tell of a hold and its end", async () => {
    const gate = gateWith({
      rules: [{ name: "req/ip", by: "ip", limits: ["1 per hour"], hold: { after: 1, for: ["1m"] } }],
    });
    const { lines, log } = logged();
    const stop = logDecisions(gate, log);
    for (let i = 0; i < 4; i++) await gate.decide(request());
    stop();
    expect(lines.find(({ msg }) => msg === "held")).toMatchObject({
      level: "info",
      rule: "req/ip",
      key: "203.0.113.7",
      client: "203.0.113.7",
      until: expect.stringMatching(/Z$/),
    });
  });

  it("tell of an outage as a warning, and of its end as news", async () => {
    let isOut = true;
    const counts = memoryStore();
    const decide = counts.decide.bind(counts);
    const store: Store = Object.assign(counts, {
      decide(checks: Parameters<Store["decide"]>[0]) {
        if (isOut) throw new Error("redis://u:hush@h is gone");
        return decide(checks);
      },
    });
    const gate = gateWith({ store, breaker: { failures: 1, pauseMs: 10 } });
    const { lines, log } = logged();
    const stop = logDecisions(gate, log);
    await gate.decide(request());
    expect(lines.find(({ level }) => level === "warn")).toMatchObject({
      msg: expect.stringContaining("out of reach"),
    });
    isOut = false;
    await vi.waitFor(async () => {
      await gate.decide(request());
      expect(lines.find(({ msg }) => msg === "the store is back")).toMatchObject({ level: "info" });
    }, patiently);
    stop();
    expect(JSON.stringify(lines)).not.toContain("hush");
  });
});
