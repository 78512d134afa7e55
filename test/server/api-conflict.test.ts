import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import { startServer } from "../../packages/tidegate-server/src/server.js";
import { startRedis } from "../servers/index.js";
import { type Admin, firstPolicy, type Reply, startAdmin } from "./api-serving.js";
import { startEdgesAdmin } from "./edges-admin.js";
import { configFile, temporaryFolder } from "./running.js";

type Ask = Admin["ask"];

const as = (who: string) => ({ "Tidegate-Who": who });
const nextPolicy = firstPolicy.replace("3 per hour", "5 per hour");
const lastPolicy = firstPolicy.replace("3 per hour", "7 per hour");

async function started(): Promise<Admin> {
  const admin = await startAdmin();
  onTestFinished(() => admin.close());
  return admin;
}

const tagOf = ({ headers }: Reply): string => headers.get("etag") ?? "";
const seen = (tag: string) => ({ "If-Match": tag });
const count = async (ask: Ask) => (await ask("GET", "/v1/audit?most=1000")).json.entries.length;

interface Thing {
  /** Where it is read. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly bodies: readonly [object, object, object];
  readonly status: number;
}

const things: Readonly<Record<string, Thing>> = {
  "a list entry": {
    at: "/v1/lists/blocklist/203.0.113.7",
    method: "PUT",
    path: "/v1/lists/blocklist/203.0.113.7",
    bodies: [{ for: "1h" }, { for: "2h" }, { for: "permanent", why: "worse" }],
    status: 200,
  },
  "a customer's tier": {
    at: "/v1/customers/a%2Fb",
    method: "PUT",
    path: "/v1/customers/a%2Fb/tier",
    bodies: [{ tier: "pro" }, { tier: "free" }, { tier: "pro" }],
    status: 200,
  },
  "a customer's limits": {
    at: "/v1/customers/acme",
    method: "PUT",
    path: "/v1/customers/acme/limits",
    bodies: [{ limits: { 60: 1 } }, { limits: { 60: 2 } }, { limits: { 60: 3, 3600: 4 } }],
    status: 200,
  },
  "the policy": {
    at: "/v1/policy",
    method: "POST",
    path: "/v1/policy",
    bodies: [{ text: nextPolicy }, { text: lastPolicy }, { text: firstPolicy }],
    status: 201,
  },
  "a rule's mode": {
    at: "/v1/policy/rules",
    method: "PUT",
    path: "/v1/policy/rules/req%2Fip/mode",
    bodies: [{ mode: "off" }, { mode: "shadow" }, { mode: "enforce" }],
    status: 201,
  },
  "an edge's mode": {
    at: "/v1/edges/cdn",
    method: "POST",
    path: "/v1/edges/cdn/mode",
    bodies: [{ mode: "off" }, { mode: "shadow" }, { mode: "on" }],
    status: 200,
  },
};

describe.each(Object.entries(things))("%s", (_name, { at, method, path, bodies, status }) => {
  it("of two who read the same, the second is told it has changed, with how it is now, and changes nothing", async () => {
    const { ask } = await startEdgesAdmin({ names: ["cdn"] });
    await ask(method, path, bodies[0]);
    const tag = tagOf(await ask("GET", at));
    expect(tag).toMatch(/^"[\w.-]+"$/);
    expect((await ask(method, path, bodies[1], { ...as("ann"), ...seen(tag) })).status).toBe(status);
    const before = await ask("GET", at);
    const entries = await count(ask);
    const late = await ask(method, path, bodies[2], { ...as("bob"), ...seen(tag) });
    expect([late.status, late.json.code]).toEqual([412, "TG_CHANGED"]);
    expect(late.json.now).toBeTypeOf("object");
    expect(late.json.help).toContain("ETag");
    expect(tagOf(late)).toBe(tagOf(before));
    expect(await count(ask)).toBe(entries);
    expect(tagOf(await ask("GET", at))).toBe(tagOf(before));
    expect((await ask(method, path, bodies[2], seen(tagOf(late)))).status).toBe(status);
  });

  it("of several who write at once on what they have read, one does", async () => {
    const { ask } = await startEdgesAdmin({ names: ["cdn"] });
    await ask(method, path, bodies[0]);
    const tag = tagOf(await ask("GET", at));
    const replies = await Promise.all(
      [bodies[1], bodies[2], bodies[1], bodies[2]].map((body) => ask(method, path, body, seen(tag))),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([status, 412, 412, 412]);
  });

  it("answers a write with the tag the next read has, and with what it replaced", async () => {
    const { ask } = await startEdgesAdmin({ names: ["cdn"] });
    await ask(method, path, bodies[0]);
    const reply = await ask(method, path, bodies[1]);
    expect(tagOf(reply)).toBe(tagOf(await ask("GET", at)));
    expect(reply.json.before).toBeDefined();
    const [entry] = (await ask("GET", "/v1/audit?most=1")).json.entries;
    expect(entry.before).toBeDefined();
  });

  it("written twice the same is changed once, and noted once", async () => {
    const { ask } = await startEdgesAdmin({ names: ["cdn"] });
    await ask(method, path, bodies[0], as("ann"));
    const tag = tagOf(await ask("GET", at));
    const entries = await count(ask);
    const again = await ask(method, path, bodies[0], as("ann"));
    expect(again.status).toBe(200);
    expect(again.json).not.toHaveProperty("before");
    expect(await count(ask)).toBe(entries);
    expect(tagOf(await ask("GET", at))).toBe(tag);
  });

  it.each(["abc", '"a', "W/", '"a" "b"', Array(30).fill('"a"').join(",")])(
    "is not changed on a condition that is none: %s",
    async (tag) => {
      const { ask } = await startEdgesAdmin({ names: ["cdn"] });
      const entries = await count(ask);
      const { status, json } = await ask(method, path, bodies[1], seen(tag));
      expect([status, json.code, json.path]).toEqual([400, "TG_REQUEST", "If-Match"]);
      expect(await count(ask)).toBe(entries);
    },
  );
});

describe("a condition", () => {
  it("may name several states, and a proxy may have marked them weak", async () => {
    const { ask } = await started();
    await ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
    const tag = tagOf(await ask("GET", "/v1/customers/acme"));
    const tags = seen(`"other", W/${tag}`);
    expect((await ask("PUT", "/v1/customers/acme/tier", { tier: "free" }, tags)).status).toBe(200);
  });

  it("* is whatever is there, and If-None-Match: * is nothing there", async () => {
    const { ask } = await started();
    const path = "/v1/lists/blocklist/203.0.113.7";
    expect(await ask("PUT", path, {}, seen("*"))).toMatchObject({ status: 412, json: { now: null } });
    expect((await ask("PUT", path, { for: "1h" }, { "If-None-Match": "*" })).status).toBe(201);
    expect(await ask("PUT", path, { for: "2h" }, { "If-None-Match": "*" })).toMatchObject({
      status: 412,
      json: { code: "TG_CHANGED", now: { address: "203.0.113.7" } },
    });
    expect((await ask("PUT", path, { for: "2h" }, seen("*"))).status).toBe(200);
  });

  it("keeps an entry from being removed that is another by now", async () => {
    const { ask } = await started();
    const path = "/v1/lists/safelist/2001:db8::1";
    await ask("PUT", path, { for: "1h" });
    const tag = tagOf(await ask("GET", "/v1/lists/safelist/2001:DB8:0::1"));
    await ask("PUT", path, { for: "2h", why: "longer" });
    expect((await ask("DELETE", path, undefined, seen(tag))).status).toBe(412);
    const { entries } = (await ask("GET", "/v1/lists/safelist")).json;
    const removed = await ask("DELETE", path, undefined, seen(entries[0].etag));
    expect(removed).toMatchObject({ status: 200, json: { before: { why: "longer" } } });
    expect((await ask("DELETE", path, undefined, seen(tag))).status).toBe(412);
  });

  it("holds for going back to an older policy too", async () => {
    const { ask } = await started();
    await ask("POST", "/v1/policy", { text: nextPolicy });
    const tag = tagOf(await ask("GET", "/v1/policy"));
    await ask("POST", "/v1/policy", { text: lastPolicy });
    const late = await ask("POST", "/v1/policy/rollback", {}, seen(tag));
    expect(late).toMatchObject({ status: 412, json: { code: "TG_CHANGED", now: { id: 3 } } });
    expect(await ask("POST", "/v1/policy/rollback", {}, seen(tagOf(late)))).toMatchObject({
      status: 201,
      json: { version: { id: 4, text: nextPolicy }, before: 3 },
    });
  });

  it("of an edge is about what people set, and not about what goes on there", async () => {
    const { ask, hold } = await startEdgesAdmin({ names: ["cdn"] });
    const tag = tagOf(await ask("GET", "/v1/edges/cdn"));
    await hold({ key: "203.0.113.7" });
    const [edge] = (await ask("GET", "/v1/edges")).json.edges;
    expect(edge.etag).toBe(tag);
    expect((await ask("POST", "/v1/edges/cdn/mode", { mode: "off" }, seen(tag))).status).toBe(200);
  });
});

describe("without a condition", () => {
  it("the last one wins, as ever, and the answer says what it replaced", async () => {
    const { ask } = await started();
    const path = "/v1/lists/blocklist/203.0.113.7";
    expect((await ask("PUT", path, { for: "1h" }, as("ann"))).json).not.toHaveProperty("before");
    expect((await ask("PUT", path, { for: "1h" }, as("bob"))).json).toMatchObject({
      entry: { who: "bob" },
      before: { who: "ann" },
    });
    await ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
    expect((await ask("PUT", "/v1/customers/acme/tier", { tier: "free" })).json).toMatchObject({
      tier: "free",
      before: { tier: "pro" },
    });
    expect((await ask("POST", "/v1/policy", { text: nextPolicy })).json).toMatchObject({
      version: { id: 2 },
      before: 1,
    });
  });

  it("an entry put again later lasts longer: that is a change, and noted", async () => {
    const { ask, data } = await started();
    const address = "203.0.113.7";
    await data.directory.put("blocklist", { address, who: "api", until: Date.now() + 3_590_000 });
    const entries = await count(ask);
    expect((await ask("PUT", `/v1/lists/blocklist/${address}`, { for: "1h" })).json.before).toBeDefined();
    expect(await count(ask)).toBe(entries + 1);
  });
});

describe("in Redis, where the end of an entry is told by the time it has left", () => {
  it("what was read can be written, again and again, and what has changed can not", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    const file = configFile(
      folder,
      `listen: { proxy: false, admin: 0, decide: 0 }
decide: { peers: [127.0.0.1] }
store: { kind: redis, url: "${redis.url}" }
policy: { rules: [{ name: req/ip, by: ip, limits: [3 per hour] }] }
`,
    );
    const loaded = loadConfig({ file, env: {}, cwd: folder });
    const server = await startServer(loaded, { log: openLog({ level: "silent" }) });
    onTestFinished(() => server.close());
    const ask = async (method: string, path: string, body?: object, headers = {}) => {
      const reply = await fetch(`${server.urls.admin}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return {
        status: reply.status,
        tag: reply.headers.get("etag") ?? "",
        json: JSON.parse(await reply.text()),
      };
    };
    const path = "/v1/lists/blocklist/203.0.113.7";
    await ask("PUT", path, { for: "1h", why: "flood" });
    const first = await ask("GET", path);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const put = await ask("PUT", path, { for: "2h", why: "flood" }, seen(first.tag));
    expect(put.status).toBe(200);
    expect((await ask("PUT", path, { for: "3h" }, seen(first.tag))).status).toBe(412);
    const undone = await ask(
      "POST",
      `/v1/audit/${(await ask("GET", "/v1/audit?most=1")).json.entries[0].id}/undo`,
    );
    expect(undone.json.entry).toMatchObject({ what: "blocklist.add", after: { why: "flood" } });
    const back = await ask("GET", path, undefined);
    expect(Math.abs(back.json.entry.until - first.json.entry.until)).toBeLessThan(5000);
    expect((await ask("DELETE", path, undefined, seen(first.tag))).status).toBe(200);
  });
});
