import { describe, expect, it, onTestFinished } from "vitest";
import { EdgeError } from "../../packages/tidegate-server/src/edge.js";
import { startAdmin } from "./api-serving.js";
import { startEdgesAdmin } from "./edges-admin.js";

const as = (who: string) => ({ "Tidegate-Who": who });
const digest = "a".repeat(64);
const soon = { timeout: 10_000 };

describe("a server without edges", () => {
  it("says so: no edge, nobody held, and no such edge to change", async () => {
    const { ask, close } = await startAdmin();
    onTestFinished(close);
    expect((await ask("GET", "/v1/edges")).json).toEqual({ edges: [] });
    expect((await ask("GET", "/v1/offenders")).json).toEqual({ offenders: [] });
    for (const [path, body] of [
      ["/v1/edges/cdn/mode", { mode: "off" }],
      ["/v1/edges/cdn/sync", {}],
      ["/v1/edges/sync", undefined],
    ] as const) {
      const { status, json } = await ask("POST", path, body);
      expect([status, json.code]).toEqual([404, "TG_NOT_FOUND"]);
      expect(json.detail).toBe("No edge is configured here.");
    }
  });

  it("explains and clears clients as ever", async () => {
    const { ask, close } = await startAdmin();
    onTestFinished(close);
    const subject = { ip: "203.0.113.7" };
    expect((await ask("POST", "/v1/explain", { subject })).json).not.toHaveProperty("offenders");
    expect(Object.keys((await ask("POST", "/v1/clear", { subject })).json)).toEqual(["cleared", "unknown"]);
  });
});

describe("the state of edges", () => {
  it("is told of each: mode, entries, whether it is in step", async () => {
    const { ask, hold } = await startEdgesAdmin();
    await hold({ key: "203.0.113.7" });
    await expect
      .poll(async () => (await ask("GET", "/v1/edges")).json.edges, soon)
      .toMatchObject([
        {
          edge: "cdn",
          kind: "memory",
          mode: "on",
          state: "in step",
          entries: 1,
          maxEntries: 100,
          alarms: [],
        },
        { edge: "lb", kind: "memory", mode: "on", state: "in step", entries: 1 },
      ]);
  });
});

describe("a mode", () => {
  it("is set with who and why, told to the edge, kept in the data, and in the audit with what was before", async () => {
    const { ask, tables, data, hold } = await startEdgesAdmin();
    await hold({ key: "203.0.113.7" });
    const { status, json } = await ask(
      "POST",
      "/v1/edges/cdn/mode",
      { mode: "off", why: "too many" },
      as("ann"),
    );
    expect(status).toBe(200);
    expect(json.edge).toMatchObject({ edge: "cdn", mode: "off", setBy: { who: "ann", why: "too many" } });
    await expect.poll(() => tables.cdn?.mode, soon).toBe("off");
    expect(tables.cdn?.items.has("203.0.113.7")).toBe(true);
    expect(tables.lb?.mode).not.toBe("off");
    expect((await data.edgeBook.modes()).get("cdn")).toMatchObject({ mode: "off", who: "ann" });
    const [entry] = await data.audit.list({ most: 1 });
    expect(entry).toMatchObject({
      who: "ann",
      what: "edge.mode",
      target: "cdn",
      why: "too many",
      before: "on",
      after: "off",
    });
  });

  it.each([
    [{ mode: "stop" }, "body.mode", '"on" or "shadow" or "off"'],
    [{}, "body.mode", '"on" or "shadow" or "off"'],
    [{ mode: "on", reason: "x" }, "body", "There is no field"],
    [{ mode: "on", why: 5 }, "body.why", "Say why"],
  ])("%j is refused, by its place, and nothing is noted", async (body, path, words) => {
    const { ask, data } = await startEdgesAdmin();
    const before = await data.audit.list();
    const { status, json } = await ask("POST", "/v1/edges/cdn/mode", body);
    expect([status, json.code, json.path]).toEqual([400, "TG_REQUEST", path]);
    expect(json.detail).toContain(words);
    expect(await data.audit.list()).toEqual(before);
  });

  it("of an edge there is none of is 404, with those there are", async () => {
    const { ask } = await startEdgesAdmin();
    const { status, json } = await ask("POST", "/v1/edges/CDN/mode", { mode: "off" });
    expect([status, json.help]).toEqual([404, "There are cdn, lb."]);
  });
});

describe("a sync", () => {
  it("sets right what somebody changed at the edge, and leaves an entry; a dry run only says it", async () => {
    let isStill = false;
    const { ask, tables, hold, data } = await startEdgesAdmin({
      names: ["cdn"],
      // While it stands still nothing reaches the edge, so that only a sync can set it right.
      edge: (edge) => ({
        ...edge,
        apply: (changes, signal) => {
          if (isStill) throw new EdgeError("TG_EDGE_TEST", "cdn", "stands still", "", true);
          return edge.apply(changes, signal);
        },
      }),
    });
    await hold({ key: "203.0.113.7" });
    isStill = true;
    tables.cdn?.items.delete("203.0.113.7");
    const dry = await ask("POST", "/v1/edges/cdn/sync", { dryRun: true });
    expect(dry.json.reports).toMatchObject([
      { edge: "cdn", isDryRun: true, put: [{ key: "203.0.113.7", rule: "flood" }], remove: [] },
    ]);
    expect((await data.audit.list()).map(({ what }) => what)).not.toContain("edge.sync");
    expect(tables.cdn?.items.has("203.0.113.7")).toBe(false);

    isStill = false;
    const done = await ask("POST", "/v1/edges/sync", undefined, as("ann"));
    expect(done.json.reports).toMatchObject([{ edge: "cdn", isDryRun: false }]);
    await expect.poll(() => tables.cdn?.items.has("203.0.113.7"), soon).toBe(true);
    expect((await data.audit.list())[0]).toMatchObject({
      who: "ann",
      what: "edge.sync",
      after: [{ edge: "cdn" }],
    });
  });
});

describe("offenders", () => {
  it("are listed worst first, page by page, without one twice or left out", async () => {
    const { ask, data } = await startEdgesAdmin();
    const now = Date.now();
    for (let i = 0; i < 25; i++)
      await data.offenders.add({
        key: `203.0.113.${i}`,
        rule: "flood",
        crossedAt: now,
        until: now + 600_000,
        score: 1 + (i % 5),
        leaked: i,
        edges: [],
        about: {},
      });
    const seen: { key: string; score: number }[] = [];
    let after = "";
    for (let page = 0; page < 3; page++) {
      const { json } = await ask(
        "GET",
        `/v1/offenders?most=10${after && `&after=${encodeURIComponent(after)}`}`,
      );
      seen.push(...json.offenders);
      after = json.next;
    }
    expect(after).toBeUndefined();
    expect(new Set(seen.map(({ key }) => key)).size).toBe(25);
    expect(seen.map(({ score }) => score)).toEqual(seen.map(({ score }) => score).sort((a, b) => b - a));
    expect(seen[0]).toMatchObject({ rule: "flood", edges: ["cdn", "lb"], since: now, until: now + 600_000 });
  });

  it("are found by the address they came from", async () => {
    const { ask, hold } = await startEdgesAdmin();
    await hold({ key: "203.0.113.7" });
    await hold({ key: digest, rule: "edge/standard", about: { ip: "203.0.113.8", path: "/login" } });
    const of = async (ip: string) => (await ask("GET", `/v1/offenders?ip=${ip}`)).json.offenders;
    expect(await of("203.0.113.8")).toMatchObject([{ key: digest, about: { path: "/login" } }]);
    expect(await of("203.0.113.9")).toEqual([]);
  });

  it.each(["most=0", "most=1001", "sort=key", "ip=", "key=abc"])("?%s is refused", async (query) => {
    const { ask } = await startEdgesAdmin();
    expect((await ask("GET", `/v1/offenders?${query}`)).status).toBe(400);
  });
});

describe("a client that is held at an edge", () => {
  it("is explained with rule, edges, since when and until when, beside what the gate says", async () => {
    const { ask, hold } = await startEdgesAdmin();
    const now = Date.now();
    await hold({
      key: digest,
      rule: "edge/standard",
      edges: ["lb"],
      crossedAt: now,
      until: now + 60_000,
      score: 4,
      leaked: 12,
      about: { ip: "203.0.113.7", userAgent: "sqlmap" },
    });
    const { json } = await ask("POST", "/v1/explain", { subject: { ip: "203.0.113.7" } });
    expect(json).toMatchObject({ allowed: true, rules: [{ rule: "req/ip" }, { rule: "api" }] });
    expect(json.offenders).toEqual([
      {
        key: digest,
        rule: "edge/standard",
        since: now,
        until: now + 60_000,
        score: 4,
        leaked: 12,
        edges: ["lb"],
        standing: [{ edge: "lb", state: "held" }],
        about: { ip: "203.0.113.7", userAgent: "sqlmap" },
      },
    ]);
    expect(json.refusedAt).toEqual([{ edge: "lb", rule: "edge/standard", key: digest, until: now + 60_000 }]);
  });

  it("is found, and cleared, by the digest it stands under", async () => {
    const { ask, hold, tables, data } = await startEdgesAdmin();
    await hold({ key: digest, about: { ip: "203.0.113.7" } });
    await hold({ key: "203.0.113.7" });
    const found = await ask("GET", `/v1/offenders?key=${digest.toUpperCase()}`);
    expect(found.json.offenders).toMatchObject([{ key: digest }]);
    const { status, json } = await ask("POST", "/v1/clear", { key: digest }, as("ann"));
    expect(status).toBe(200);
    expect(json).toMatchObject({
      cleared: [],
      unknown: [],
      edges: [{ key: digest, standing: [{ state: "hold-off" }, { state: "hold-off" }] }],
      holdOffUntil: expect.any(Number),
    });
    expect([...(tables.cdn?.items.keys() ?? [])]).toEqual(["203.0.113.7"]);
    expect((await data.audit.list())[0]).toMatchObject({ what: "client.clear", target: digest });
  });

  it.each([
    [{}, "body.subject"],
    [{ key: "abc" }, "body.key"],
    [{ key: "a".repeat(64), subject: { ip: "203.0.113.7" } }, "body.subject"],
  ])("%j names nobody to clear", async (body, path) => {
    const { ask } = await startEdgesAdmin();
    const { status, json } = await ask("POST", "/v1/clear", body);
    expect([status, json.code, json.path]).toEqual([400, "TG_REQUEST", path]);
  });

  it("is explained as far as can be told when the edges can not be asked about", async () => {
    const { ask, desk, lines } = await startEdgesAdmin();
    desk.find = async () => {
      throw new Error("gone");
    };
    const { status, json } = await ask("POST", "/v1/explain", { subject: { ip: "203.0.113.7" } });
    expect([status, json.allowed, json.offenders]).toEqual([200, true, null]);
    expect(lines.some(({ msg }) => msg === "who is held at the edges can not be told")).toBe(true);
  });

  it("is taken off every edge by a clear, which is answered and noted, and does not come back for a while", async () => {
    const { ask, hold, tables, data } = await startEdgesAdmin();
    await hold({ key: "203.0.113.7" });
    const { json } = await ask("POST", "/v1/clear", { subject: { ip: "203.0.113.7" } }, as("ann"));
    expect(json.cleared).toMatchObject([{ rule: "req/ip", key: "203.0.113.7" }]);
    expect(json.edges).toMatchObject([{ key: "203.0.113.7", rule: "flood", edges: ["cdn", "lb"] }]);
    await expect
      .poll(() => Object.values(tables).some(({ items }) => items.has("203.0.113.7")), soon)
      .toBe(false);
    expect((await data.audit.list())[0]).toMatchObject({
      who: "ann",
      what: "client.clear",
      target: "203.0.113.7",
      after: {
        cleared: [{ rule: "req/ip" }],
        edges: [{ key: "203.0.113.7", rule: "flood", edges: ["cdn", "lb"] }],
      },
    });
    expect(await data.edgeBook.clears()).toMatchObject([{ key: "203.0.113.7", who: "ann" }]);
  });

  it("that could not be taken off is an error, and what was forgotten is noted all the same", async () => {
    const { ask, desk, data } = await startEdgesAdmin();
    desk.clear = async () => {
      throw new EdgeError("TG_EDGE_TEST", "cdn", "is gone", "Look there.", true);
    };
    const { status, json } = await ask("POST", "/v1/clear", { subject: { ip: "203.0.113.7" } });
    expect([status, json.code, json.help]).toEqual([503, "TG_EDGE_TEST", "Look there."]);
    expect((await data.audit.list())[0]).toMatchObject({ what: "client.clear", after: [{ rule: "req/ip" }] });
  });
});
