import { StoreError, TidegateError } from "tidegate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { routes } from "../../packages/tidegate-server/src/api/routes.js";
import { type Admin, firstPolicy, startAdmin } from "./api-serving.js";

let admin: Admin;
let ask: Admin["ask"];
const others: Admin[] = [];

beforeEach(async () => {
  admin = await startAdmin();
  ask = admin.ask;
});

afterEach(async () => {
  await Promise.all([admin, ...others.splice(0)].map((each) => each.close()));
});

async function another(options: Parameters<typeof startAdmin>[0]): Promise<Admin> {
  const started = await startAdmin(options);
  others.push(started);
  return started;
}

const request = (ip: string) => ({
  ip,
  method: "GET",
  host: "example.com",
  path: "/",
  header: () => undefined,
});
const nextPolicy = firstPolicy.replace("3 per hour", "5 per hour");

describe("health and readiness", () => {
  it("alive is alive", async () => {
    expect(await ask("GET", "/health")).toMatchObject({ status: 200, json: { status: "alive" } });
    expect(await ask("HEAD", "/health")).toMatchObject({ status: 200, text: "" });
  });

  it("not ready says why", async () => {
    expect(await ask("GET", "/ready")).toMatchObject({ status: 200, json: { status: "ready", reasons: [] } });
    const why = 'No origin of the upstream "shop" is healthy.';
    Object.assign(admin.server, { isReady: false, notReady: [why], isDraining: true });
    const { status, json } = await ask("GET", "/ready");
    expect(status).toBe(503);
    expect(json).toEqual({ status: "not ready", reasons: [why, "The server is ending."] });
    expect((await ask("GET", "/v1/status")).json).toMatchObject({ isReady: false, ready: json });
    expect((await ask("GET", "/health")).status).toBe(200);
  });

  it("the status tells policy, store, data and counts", async () => {
    expect((await ask("GET", "/v1/status")).json).toMatchObject({
      isReady: true,
      store: { kind: "memory", isDegraded: false },
      data: { kind: "embedded" },
      policy: { version: 1, source: "demo" },
      metrics: { decisions: 0 },
    });
  });

  it("metrics are text", async () => {
    const { status, headers, text } = await ask("GET", "/metrics");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain("# TYPE tidegate_decisions_total counter");
  });
});

describe("every answer", () => {
  it("carries the security headers, errors too", async () => {
    for (const path of [
      "/health",
      "/metrics",
      "/v1/status",
      "/nowhere",
      "/v1/lists/x",
      "/v1/busiest?most=x",
    ]) {
      const { headers } = await ask("GET", path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    }
  });

  it("to an unknown path is 404, to a wrong method 405 with those there are", async () => {
    for (const path of [
      "/v1",
      "/assets",
      "/assets/nothing.js",
      "/v1/nowhere",
      "/v1/lists/x/y/z",
      "/V1/status",
      "/v1/status/",
    ])
      expect(await ask("GET", path)).toMatchObject({ status: 404, json: { code: "TG_NOT_FOUND" } });
    for (const { path } of routes) {
      const { status, headers, json } = await ask("PATCH", path);
      expect([status, json.code]).toEqual([405, "TG_METHOD"]);
      expect(headers.get("allow")).toMatch(/GET|PUT|POST|DELETE/);
    }
    expect((await ask("OPTIONS", "/v1/policy")).headers.get("access-control-allow-origin")).toBeNull();
  });

  it("to a page of another origin is no", async () => {
    expect(
      await ask("POST", "/v1/policy/rollback", undefined, { origin: "http://evil.example" }),
    ).toMatchObject({
      status: 403,
      json: { code: "TG_ORIGIN" },
    });
  });
});

describe("policies", () => {
  it("are shown, changed, listed and gone back to, each change with its entry in the audit", async () => {
    expect((await ask("GET", "/v1/policy")).json).toMatchObject({
      status: { version: 1 },
      version: { id: 1, text: firstPolicy },
    });
    const put = await ask(
      "POST",
      "/v1/policy",
      { text: nextPolicy, after: 1, why: "more" },
      { "tidegate-who": "ann" },
    );
    expect(put).toMatchObject({
      status: 201,
      json: { version: { id: 2, who: "ann", source: "api", why: "more" } },
    });
    expect(admin.gate.policy.rules[0]).toMatchObject({ name: "req/ip" });
    const back = await ask("POST", "/v1/policy/rollback", { to: 1 });
    expect(back).toMatchObject({
      status: 201,
      json: { version: { id: 3, source: "rollback", text: firstPolicy, who: "api" } },
    });
    const { json } = await ask("GET", "/v1/policy/versions?most=2");
    expect(json.versions.map(({ id }: { id: number }) => id)).toEqual([3, 2]);
    expect(json.versions[0]).not.toHaveProperty("text");
    const rest = await ask("GET", `/v1/policy/versions?before=${json.next}`);
    expect(rest.json.versions.map(({ id }: { id: number }) => id)).toEqual([1]);
    expect((await ask("GET", "/v1/policy/versions/2")).json.version.text).toBe(nextPolicy);
    const { entries } = (await ask("GET", "/v1/audit")).json;
    expect(entries.filter(({ what }: { what: string }) => what.startsWith("policy."))).toHaveLength(3);
  });

  it("that came too late are 409, and nothing is changed", async () => {
    await ask("POST", "/v1/policy", { text: nextPolicy });
    expect(await ask("POST", "/v1/policy", { text: firstPolicy, after: 1 })).toMatchObject({
      status: 409,
      json: { code: "TG_POLICY_CONFLICT", help: expect.any(String) },
    });
    expect((await ask("GET", "/v1/policy")).json.status.version).toBe(2);
  });

  it("with faults are refused with line, path and fix; asking first changes nothing", async () => {
    const faulty = "rules:\n  - { name: a, by: ip, limits: [many] }\n";
    const { status, json } = await ask("POST", "/v1/policy/validate", { text: faulty });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ok: false,
      problems: [
        {
          line: 2,
          column: expect.any(Number),
          path: expect.stringContaining("rules[0]"),
          code: expect.stringMatching(/^TG_/),
          message: expect.any(String),
          help: expect.any(String),
        },
      ],
    });
    expect(await ask("POST", "/v1/policy/validate", { text: firstPolicy })).toMatchObject({
      json: { ok: true, problems: [] },
    });
    expect(await ask("POST", "/v1/policy", { text: faulty })).toMatchObject({
      status: 400,
      json: { problems: [{ line: 2 }] },
    });
    expect((await ask("GET", "/v1/policy")).json.status.version).toBe(1);
  });

  it("that do not exist are 404", async () => {
    for (const id of ["2", "0", "-1", "x", "1e3", "99999999999999999999"])
      expect((await ask("GET", `/v1/policy/versions/${id}`)).status).toBe(404);
    expect(await ask("POST", "/v1/policy/rollback", { to: 99 })).toMatchObject({
      status: 404,
      json: { code: "TG_POLICY_VERSION" },
    });
    expect(await ask("POST", "/v1/policy/rollback")).toMatchObject({ status: 404 });
  });
});

describe("lists", () => {
  it("take an address or a block, hold at once, and leave an entry in the audit", async () => {
    const put = await ask(
      "PUT",
      "/v1/lists/blocklist/203.0.113.0%2F24",
      { for: "1h", why: "flood" },
      { "tidegate-who": "ann" },
    );
    expect(put).toMatchObject({
      status: 201,
      json: {
        list: "blocklist",
        entry: { address: "203.0.113.0/24", who: "ann", why: "flood", until: expect.any(Number) },
      },
    });
    expect((await admin.gate.decide(request("203.0.113.9"))).reason).toBe("blocklist");
    expect((await ask("PUT", "/v1/lists/blocklist/203.0.113.0%2F24", { for: "permanent" })).status).toBe(200);
    const removed = await ask("DELETE", "/v1/lists/blocklist/203.0.113.0%2F24");
    expect(removed).toMatchObject({ status: 200, json: { removed: "203.0.113.0/24" } });
    expect((await admin.gate.decide(request("203.0.113.9"))).allowed).toBe(true);
    const { entries } = (await ask("GET", "/v1/audit?most=3")).json;
    expect(entries).toMatchObject([
      {
        what: "blocklist.remove",
        who: "api",
        target: "203.0.113.0/24",
        before: { address: "203.0.113.0/24" },
      },
      { what: "blocklist.add", before: { why: "flood" }, after: { address: "203.0.113.0/24" } },
      { what: "blocklist.add", who: "ann", why: "flood", after: { why: "flood" } },
    ]);
    expect(entries[2]).not.toHaveProperty("before");
  });

  it("know an address however it is written", async () => {
    await ask("PUT", "/v1/lists/safelist/2001:DB8:0::1");
    expect((await ask("GET", "/v1/lists/safelist")).json.entries[0].address).toBe("2001:db8::1");
    expect(await ask("DELETE", "/v1/lists/safelist/2001:db8:0:0::1")).toMatchObject({
      status: 200,
      json: { removed: "2001:db8::1" },
    });
  });

  it("come in pages, and say what the policy itself names", async () => {
    for (let i = 1; i <= 5; i++) await ask("PUT", `/v1/lists/blocklist/198.51.100.${i}`);
    const seen: string[] = [];
    let after = "";
    for (let page = 0; page < 3; page++) {
      const { json } = await ask("GET", `/v1/lists/blocklist?most=2&after=${after}`);
      seen.push(...json.entries.map(({ address }: { address: string }) => address));
      after = json.next ?? "";
    }
    expect(seen).toEqual([1, 2, 3, 4, 5].map((i) => `198.51.100.${i}`));
    expect(after).toBe("");
    expect((await ask("GET", "/v1/lists/safelist")).json.fromPolicy).toEqual(["192.0.2.0/24"]);
  });

  it.each([
    ["127.0.0.1", "the address you are calling from"],
    ["127.0.0.0/8", "the address you are calling from"],
    ["127.0.0.9", "this machine"],
    ["::1", "this machine"],
    ["128.0.0.0/1", "a good part of the Internet"],
    ["2000::/3", "a good part of the Internet"],
    ["::ffff:128.0.0.0/97", "a good part of the Internet"],
    ["0:0:0:0:0:ffff:128.0.0.0/97", "a good part of the Internet"],
  ])("block %s only if forced: it is %s", async (address, why) => {
    const path = `/v1/lists/blocklist/${encodeURIComponent(address)}`;
    const { status, json } = await ask("PUT", path);
    expect([status, json.code]).toEqual([409, "TG_GUARD"]);
    expect(json.detail).toContain(why);
    expect((await ask("GET", "/v1/lists/blocklist")).json.entries).toEqual([]);
    expect((await ask("PUT", path, { force: true })).status).toBe(201);
  });

  it("never take everyone, forced or not, nor what is no address", async () => {
    for (const force of [false, true]) {
      for (const address of ["0.0.0.0/0", "::/0"])
        expect(
          await ask("PUT", `/v1/lists/blocklist/${encodeURIComponent(address)}`, { force }),
        ).toMatchObject({ status: 400, json: { code: "TG_LIST_EVERYONE" } });
      for (const address of ["x", "1.2.3", "loopback", "10.0.0.0/33", "../../etc", "a".repeat(1000), "%00"])
        expect(
          await ask("PUT", `/v1/lists/blocklist/${encodeURIComponent(address)}`, { force }),
        ).toMatchObject({ status: 400, json: { code: "TG_LIST_ADDRESS", help: expect.any(String) } });
    }
    expect(
      (await ask("GET", "/v1/audit")).json.entries.filter(({ what }: { what: string }) =>
        what.includes("list"),
      ),
    ).toEqual([]);
  });

  it("that do not exist, or have no such entry, are 404", async () => {
    expect((await ask("GET", "/v1/lists/greylist")).status).toBe(404);
    expect((await ask("GET", "/v1/lists/__proto__")).status).toBe(404);
    expect((await ask("DELETE", "/v1/lists/blocklist/203.0.113.1")).status).toBe(404);
    expect((await ask("DELETE", "/v1/lists/safelist/192.0.2.0%2F24")).json.detail).toContain(
      "from the policy",
    );
  });

  it("refuse a duration they can not read, and say how to write one", async () => {
    for (const duration of ["soon", "-1h", "1e9d", 0, -5, 1.5, null, {}, ""]) {
      const { status, json } = await ask("PUT", "/v1/lists/blocklist/203.0.113.1", { for: duration });
      expect([duration, status]).toEqual([duration, 400]);
      expect(json.path).toContain("for");
    }
  });
});

describe("what to do", () => {
  it("stands in the help alone: the detail does not repeat it", async () => {
    const problems = await Promise.all([
      ask("GET", "/v1/nothing"),
      ask("GET", "/v1/customers/nobody"),
      ask("PUT", "/v1/lists/blocklist/127.0.0.1", {}),
      ask("PUT", "/v1/lists/blocklist/nonsense", {}),
      ask("PUT", "/v1/customers/acme/tier", { tier: "platinum" }),
      ask("POST", "/v1/policy", { text: nextPolicy, after: 77 }),
      ask("POST", "/v1/clear", "{"),
    ]);
    for (const { json } of problems) {
      expect(json.help).toMatch(/\w/);
      expect(json.detail).not.toContain(json.help);
      expect(json.detail).not.toContain("[TG_");
    }
  });
});

describe("a policy that is in force and not stored", () => {
  it("is said to be so, whether it is gone or can not be read", async () => {
    const { policies } = admin.data;
    Object.assign(policies, { get: async () => undefined });
    expect((await ask("GET", "/v1/policy")).json).toMatchObject({
      version: null,
      status: { version: 1, problem: "In force is version 1, which is not stored any more." },
    });
    Object.assign(policies, {
      get: () => Promise.reject(new TidegateError("TG_DATA_UNREACHABLE", "Redis is gone.", "Look.")),
    });
    const { status, json } = await ask("GET", "/v1/policy");
    expect(status).toBe(200);
    expect(json.status.problem).toMatch(
      /^In force is version 1, which can not be read now\. Redis is gone\./,
    );
  });
});

describe("a change the audit can not take", () => {
  it("is told as made, and its entry is in the log", async () => {
    Object.assign(admin.data.audit, { add: () => Promise.reject(new Error("disk full")) });
    expect(await ask("PUT", "/v1/lists/blocklist/203.0.113.1", { why: "flood" })).toMatchObject({
      status: 500,
      json: { code: "TG_AUDIT", detail: expect.stringContaining("The change was made") },
    });
    expect((await admin.gate.decide(request("203.0.113.1"))).reason).toBe("blocklist");
    expect(admin.lines.find(({ level }) => level === "error")).toMatchObject({
      entry: { what: "blocklist.add", target: "203.0.113.1", why: "flood" },
    });
  });
});

describe("customers", () => {
  it("without a record are in the first tier, where no other is the default", async () => {
    const text = firstPolicy.replace("defaultTier: free\n", "");
    const { ask } = await another({ policy: text });
    expect((await ask("GET", "/v1/customers/acme")).json.help).toBe("It is in the default tier, free.");
    const none = await another({ policy: "rules: [{ name: a, by: ip, limits: [3 per hour] }]\n" });
    expect((await none.ask("GET", "/v1/customers/acme")).json.help).toBe("The policy has no tiers.");
  });

  it("are shown and changed, with before and after in the audit", async () => {
    expect((await ask("GET", "/v1/customers/acme")).json.help).toContain("default tier, free");
    expect(await ask("PUT", "/v1/customers/acme/tier", { tier: "pro" })).toMatchObject({
      status: 200,
      json: { id: "acme", tier: "pro", limits: null },
    });
    expect((await ask("PUT", "/v1/customers/acme/limits", { limits: { 60: 5 } })).json).toEqual({
      id: "acme",
      tier: "pro",
      limits: { 60: 5 },
    });
    expect((await ask("GET", "/v1/customers/acme")).json).toEqual({
      id: "acme",
      tier: "pro",
      limits: { 60: 5 },
    });
    await ask("PUT", "/v1/customers/acme/limits", { limits: null });
    expect((await ask("PUT", "/v1/customers/acme/tier", { tier: null })).json).toEqual({
      id: "acme",
      tier: null,
      limits: null,
      before: { tier: "pro" },
    });
    expect((await ask("GET", "/v1/audit?most=4")).json.entries).toMatchObject([
      { what: "customer.tier", target: "acme", before: "pro", after: null },
      { what: "customer.limits", before: { 60: 5 }, after: null },
      { what: "customer.limits", before: null, after: { 60: 5 } },
      { what: "customer.tier", before: null, after: "pro" },
    ]);
  });

  it("keep their ids, whatever stands in them", async () => {
    for (const id of ["a/b", "a%2Fb", "ä ö", "a?b#c", "<script>", "日本", "a+b", "\\", "%", "%25"]) {
      const path = `/v1/customers/${encodeURIComponent(id)}`;
      await ask("PUT", `${path}/tier`, { tier: "pro" });
      expect((await ask("GET", path)).json).toMatchObject({ id, tier: "pro" });
      expect((await admin.gate.customers.get(id))?.tier).toBe("pro");
    }
  });

  it("get no tier and no limits that can not be", async () => {
    expect(await ask("PUT", "/v1/customers/a/tier", { tier: "gold" })).toMatchObject({
      status: 400,
      json: { code: "TG_TIER_UNKNOWN" },
    });
    for (const limits of [
      { x: 1 },
      { 0: 1 },
      { 60: -1 },
      { 60: 1.5 },
      { 60: "1" },
      [],
      5,
      undefined,
      { 999999999: 1 },
    ])
      expect((await ask("PUT", "/v1/customers/a/limits", { limits })).status).toBe(400);
    expect((await ask("GET", "/v1/customers/a")).status).toBe(404);
  });

  it("of a primary database that does not answer are 503, and say so", async () => {
    const failing = (error: Error) => ({
      get: async () => undefined,
      setTier: async () => {
        throw error;
      },
      setLimits: async () => ({ state: "pending" as const }),
    });
    const down = await another({
      customers: failing(
        new StoreError("TG_STORE_UNREACHABLE", "sql", "Gone.", "Wait.", { transient: true }),
      ),
    });
    expect(await down.ask("PUT", "/v1/customers/a/tier", { tier: "pro" })).toMatchObject({
      status: 503,
      json: { code: "TG_STORE_UNREACHABLE", help: "Wait." },
    });
    expect((await down.ask("PUT", "/v1/customers/a/limits", { limits: null })).json.state).toBe("pending");
    expect((await down.ask("GET", "/v1/audit?most=1")).json.entries[0].what).toBe("customer.limits");
    const odd = await another({ customers: failing(new TidegateError("TG_ODD", "Odd.", "Help.")) });
    expect(await odd.ask("PUT", "/v1/customers/a/tier", { tier: "pro" })).toMatchObject({
      status: 500,
      json: { code: "TG_ODD", detail: "Odd.", help: "Help." },
    });
  });
});

describe("clients", () => {
  it("are explained free of charge", async () => {
    for (let i = 0; i < 5; i++) {
      const { status, json } = await ask("POST", "/v1/explain", {
        subject: { ip: "203.0.113.7", headers: { "X-A": "b" } },
      });
      expect(status).toBe(200);
      expect(json).toMatchObject({
        allowed: true,
        reason: "within-limits",
        words: expect.stringContaining("203.0.113.7"),
      });
      expect(json.rules[0].verdicts[0].remaining).toBe(3);
    }
  });

  it("are cleared, which leaves an entry in the audit", async () => {
    for (let i = 0; i < 5; i++) await admin.gate.decide(request("203.0.113.7"));
    expect((await admin.gate.decide(request("203.0.113.7"))).allowed).toBe(false);
    const { status, json } = await ask("POST", "/v1/clear", { subject: { ip: "203.0.113.7" } });
    expect(status).toBe(200);
    expect(json).toEqual({ cleared: [{ rule: "req/ip", key: "203.0.113.7" }], unknown: ["api"] });
    expect((await admin.gate.decide(request("203.0.113.7"))).allowed).toBe(true);
    expect((await ask("GET", "/v1/audit?most=1")).json.entries).toMatchObject([
      { what: "client.clear", target: "203.0.113.7" },
    ]);
  });

  it("are listed by how busy they are", async () => {
    for (let i = 0; i < 4; i++) await admin.gate.decide(request("203.0.113.7"));
    await admin.gate.decide(request("203.0.113.8"));
    const { json } = await ask("GET", "/v1/busiest?most=1");
    expect(json.clients).toMatchObject([{ key: "203.0.113.7", refused: expect.any(Number) }]);
  });
});

describe("a token", () => {
  it("is asked for everywhere but at health, readiness and login", async () => {
    const { ask } = await another({ token: "s3cret" });
    for (const { method, path, isOpen } of routes) {
      const { status, headers, json } = await ask(method, path);
      if (isOpen) expect(status).toBe(path === "/v1/login" ? 400 : 200);
      else {
        expect([path, status, json.code]).toEqual([path, 401, "TG_ADMIN_TOKEN"]);
        expect(headers.get("www-authenticate")).toBe("Bearer");
      }
    }
    expect((await ask("GET", "/v1/status", undefined, { authorization: "Bearer s3cret" })).status).toBe(200);
  });

  it("can not be guessed: after twenty wrong ones nobody at that address is heard, however many come at once", async () => {
    const { ask } = await another({ token: "s3cret" });
    const right = { authorization: "Bearer s3cret" };
    for (let i = 0; i < 30; i++) expect((await ask("GET", "/v1/busiest", undefined, right)).status).toBe(200);
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        ask("GET", "/v1/busiest", undefined, { authorization: `Bearer ${i}` }),
      ),
    );
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(20);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(40);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask("GET", "/v1/busiest", undefined, right)).status).toBe(429);
    expect((await ask("GET", "/health")).status).toBe(200);
  });

  it("is never told back", async () => {
    const { ask, lines } = await another({ token: "s3cret" });
    const { text } = await ask("GET", "/v1/status", undefined, { authorization: "Bearer s3cret" });
    await ask("GET", "/v1/status", undefined, { authorization: "Bearer s3cret2" });
    expect(text + JSON.stringify(lines)).not.toContain("s3cret");
  });
});
