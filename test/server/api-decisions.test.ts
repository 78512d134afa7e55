import { Registry } from "prom-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { adminApi } from "../../packages/tidegate-server/src/api/admin-api.js";
import { startAdmin } from "./api-serving.js";
import { listening } from "./cli-rig.js";
import { startEdgesAdmin } from "./edges-admin.js";

const subject = {
  ip: "203.0.113.7",
  method: "GET",
  host: "h",
  path: "/a?b=c",
  header: (name: string) => (name === "user-agent" ? "curl/8" : undefined),
};

describe("a decision that refused", () => {
  it("is told by its id, with the verdicts and what the same request would get now", async () => {
    const admin = await startAdmin({ policy: "rules: [{ name: req/ip, by: ip, limits: [0 per hour] }]\n" });
    onTestFinished(() => admin.close());
    const before = Date.now();
    const { id } = await admin.gate.decide(subject);
    const { status, json } = await admin.ask("GET", `/v1/decisions/${id}`);
    expect(status).toBe(200);
    expect(json.decision).toMatchObject({
      id,
      reason: "over-limit",
      verdict: { rule: "req/ip", retryAfterMs: null },
      verdicts: [{ rule: "req/ip" }],
      about: { ip: "203.0.113.7", method: "GET", host: "h", path: "/a", userAgent: "curl/8" },
    });
    expect(json.decision.at).toBeGreaterThanOrEqual(before);
    expect(json.now).toMatchObject({ allowed: false, rules: [{ rule: "req/ip" }] });
  });

  it("comes with the edges that hold its client, and with whoever cleared it", async () => {
    const { ask, gate, hold } = await startEdgesAdmin({
      policy: "rules: [{ name: req/ip, by: ip, limits: [0 per hour] }]\n",
    });
    const { id } = await gate.decide(subject);
    await hold({ key: "203.0.113.7" });
    const held = await ask("GET", `/v1/decisions/${id}`);
    expect(held.json.now).toMatchObject({
      offenders: [{ key: "203.0.113.7", edges: ["cdn", "lb"] }],
      cleared: [],
    });
    await ask("POST", "/v1/clear", { subject: { ip: "203.0.113.7" } }, { "tidegate-who": "ann" });
    const cleared = await ask("GET", `/v1/decisions/${id}`);
    expect(cleared.json.now).toMatchObject({
      offenders: [],
      cleared: [{ key: "203.0.113.7", who: "ann", until: expect.any(Number) }],
    });
  });

  it("is told also when what would be decided now can not be", async () => {
    const admin = await startAdmin({ policy: "rules: [{ name: req/ip, by: ip, limits: [0 per hour] }]\n" });
    onTestFinished(() => admin.close());
    const { id } = await admin.gate.decide(subject);
    admin.gate.explain = async () => {
      throw new Error("gone");
    };
    const { status, json } = await admin.ask("GET", `/v1/decisions/${id}`);
    expect([status, json.decision.id, json.now]).toEqual([200, id, null]);
  });

  it.each(["mf3k2x9-1a", "x".repeat(3_000), "%00", "..%2f", "__proto__"])(
    "is 404 with help when there is none: %s",
    async (id) => {
      const admin = await startAdmin();
      onTestFinished(() => admin.close());
      const { status, json } = await admin.ask("GET", `/v1/decisions/${id}`);
      expect([status, json.code]).toEqual([404, "TG_NOT_FOUND"]);
      expect(json.help).toContain("10,000");
    },
  );

  it("is remembered by nobody where nothing meets traffic, and that is said", async () => {
    const { gate, data } = await startAdmin().then((admin) => {
      onTestFinished(() => admin.close());
      return admin;
    });
    const { handle } = adminApi({
      settings: { admin: { hosts: [] } },
      gate,
      data,
      registry: new Registry(),
    } as unknown as Parameters<typeof adminApi>[0]);
    const response = await fetch(`${await listening(handle)}/v1/decisions/mf3k2x9-1a`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining("meets traffic") });
  });
});

describe("a client that was cleared by hand", () => {
  it("is explained with who did it and until when it goes to no edge, by its address and its block", async () => {
    const { ask, data } = await startEdgesAdmin();
    const until = Date.now() + 600_000;
    await data.edgeBook.addClears(["203.0.113.0/24"], { until, who: "ann" });
    await data.edgeBook.addClears(["198.51.100.1", "a".repeat(64)], { until, who: "bob" });
    const explain = async (ip: string) =>
      (await ask("POST", "/v1/explain", { subject: { ip } })).json.cleared;
    expect(await explain("203.0.113.7")).toMatchObject([{ key: "203.0.113.0/24", who: "ann", until }]);
    expect(await explain("198.51.100.1")).toMatchObject([{ key: "198.51.100.1", who: "bob" }]);
    expect(await explain("198.51.100.2")).toEqual([]);
  });
});
