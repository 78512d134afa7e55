import { slidingLog } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import { ask, openRig, type Rig } from "./decide-rig.js";

let rig: Rig;
afterEach(() => rig?.close());

const subject = { ip: "203.0.113.7", method: "GET", host: "example.com", path: "/items" };
const decide = (body: unknown, headers: Record<string, string> = {}) =>
  ask(`${rig.url}/v1/decide`, { body, headers });

describe("POST /v1/decide", () => {
  it("answers 200 whether allowed or refused, with headers to copy", async () => {
    rig = await openRig({ rules: [{ name: "req/ip", by: "ip", limits: "1 per 1h" }] });
    const first = await decide({ subject });
    expect(first.status).toBe(200);
    expect(first.headers["content-type"]).toBe("application/json");
    expect(first.json).toMatchObject({
      id: expect.any(String),
      allowed: true,
      reason: "within-limits",
      source: "store",
      delayedMs: 0,
      verdict: { rule: "req/ip", name: "req/ip/3600", key: "203.0.113.7", remaining: 0, retryAfterMs: 0 },
      verdicts: [{ rule: "req/ip" }],
      headers: { "RateLimit-Policy": '"req/ip/3600";q=1;w=3600', RateLimit: expect.stringContaining("r=0") },
    });
    expect(first.json.finish).toBeUndefined();
    const second = await decide({ subject });
    expect(second.status).toBe(200);
    expect(second.json).toMatchObject({
      allowed: false,
      reason: "over-limit",
      headers: { "Retry-After": expect.stringMatching(/^\d+$/) },
    });
  });

  it("a wait for ever is null", async () => {
    rig = await openRig({
      rules: [{ name: "none", by: "ip", limits: [slidingLog({ limit: 5, window: "1h" })] }],
    });
    const { json } = await decide({ subject, cost: 6 });
    expect(json).toMatchObject({ allowed: false, verdict: { retryAfterMs: null } });
    expect(json.headers).not.toHaveProperty("Retry-After");
  });

  it("one rule alone, with its cost and id (B4)", async () => {
    rig = await openRig({
      rules: [
        { name: "req/ip", by: "ip", limits: "1 per 1h" },
        { name: "sms", by: "user", limits: [slidingLog({ limit: 10, window: "1d" })] },
      ],
    });
    const sms = { subject: { user: "42" }, rule: "sms", cost: 4 };
    const remaining = async (id: string) =>
      (await decide({ ...sms, id })).json.verdicts?.map((one) => one.remaining);
    expect(await remaining("a")).toEqual([6]);
    expect(await remaining("a")).toEqual([6]);
    expect(await remaining("b")).toEqual([2]);
    expect((await decide({ ...sms, id: "c" })).json.allowed).toBe(false);
  });

  it("a rule that is not there is 404, and nothing is charged", async () => {
    rig = await openRig();
    for (const rule of ["nope", "constructor", "__proto__", "a\u0000b"]) {
      const answer = await decide({ subjects: [subject, { ...subject, rule }] });
      expect(answer).toMatchObject({ status: 404, json: { code: "TG_RULE_UNKNOWN" } });
    }
    expect((await decide({ subject })).json.verdicts?.[0]?.remaining).toBe(2);
  });

  it("many subjects at once, each with its own rule, cost and id, answered in their order", async () => {
    rig = await openRig({
      rules: [
        { name: "a", by: "ip", limits: "10 per 1h" },
        { name: "b", by: "ip", limits: "10 per 1h" },
      ],
    });
    const { json } = await decide({
      subjects: [
        { ...subject, rule: "a", cost: 3 },
        { ...subject, rule: "b" },
        { ...subject, ip: "203.0.113.8" },
      ],
      cost: 2,
    });
    const seen = json.decisions?.map(({ verdicts = [] }) =>
      verdicts.map(({ rule, key, remaining }) => `${rule} ${key} ${remaining}`),
    );
    expect(seen).toEqual([["a 203.0.113.7 7"], ["b 203.0.113.7 8"], ["a 203.0.113.8 8", "b 203.0.113.8 8"]]);
    expect((await decide({ subjects: [] })).json).toEqual({ decisions: [] });
  });

  it("more than 1000 subjects, or a megabyte, is 413", async () => {
    rig = await openRig();
    expect((await decide({ subjects: Array(1000).fill(subject) })).status).toBe(200);
    expect(await decide({ subjects: Array(1001).fill(subject) })).toMatchObject({
      status: 413,
      json: { code: "TG_QUESTION_LARGE" },
    });
    const large = await decide({ subject, padding: "x".repeat(1_000_001) });
    expect(large).toMatchObject({ status: 413, json: { code: "TG_QUESTION_LARGE" } });
  });

  it("headers are found in any case, several lines joined", async () => {
    rig = await openRig({ rules: [{ name: "tenant", by: "header:x-tenant", limits: "9 per 1h" }] });
    const keyOf = async (headers: object) =>
      (await decide({ subject: { ...subject, headers } })).json.verdicts?.[0]?.key;
    const key = await keyOf({ "X-TENANT": "a, b" });
    expect(key).toBeDefined();
    expect(await keyOf({ "x-tenant": ["a", "b"] })).toBe(key);
    expect(await keyOf({ "x-tenant": "a", "X-Tenant": "b" })).toBe(key);
    expect(await keyOf({ constructor: "x", toString: "y", __proto__: null })).toBeUndefined();
  });

  it("a misspelt field is refused, by its name and beside those that are known", async () => {
    rig = await openRig();
    const misspelt: [body: object, names: RegExp][] = [
      [{ subject, rulle: "req/ip" }, /"rulle"\. Known are subject, subjects, rule, cost, id, wait\./],
      [
        { subject: { ...subject, zzz: 1, acount: "ann" } },
        /^subject .*"zzz", "acount"\. Known are ip,.* account/,
      ],
      [{ subjects: [subject, { Path: "/" }] }, /^subjects\[1\] .*"Path"/],
    ];
    for (const [body, names] of misspelt) {
      const answer = await decide(body);
      expect(answer).toMatchObject({ status: 400, json: { code: "TG_QUESTION" } });
      expect(answer.json.detail).toMatch(names);
    }
    const proto = await decide('{"subject":{"__proto__":{"ip":"203.0.113.7"}}}');
    expect(proto.status).toBe(400);
    expect((await decide({ subject })).json.verdicts?.[0]?.remaining).toBe(2);
  });

  it("a rule that delays refuses, unless the caller waits", async () => {
    rig = await openRig({
      rules: [{ name: "slow", by: "ip", limits: "1 per 200ms", action: "delay", maxDelay: "5s" }],
    });
    const many = (wait: boolean) => decide({ subjects: [subject, subject, subject], wait });
    expect((await many(false)).json.decisions?.some(({ allowed }) => allowed === false)).toBe(true);
    const waited = (await many(true)).json.decisions ?? [];
    expect(waited.every(({ allowed }) => allowed === true)).toBe(true);
    expect(waited.some(({ delayedMs }) => Number(delayedMs) > 0)).toBe(true);
  });
});

describe("facts a client can make odd", () => {
  const keyOf = async (facts: object, rule: string) =>
    (await decide({ subject: { ...subject, ...facts }, rule })).json.verdicts?.[0]?.key;

  it("too long, they are cut and counted; numbers are names, anything else is nobody", async () => {
    rig = await openRig({
      rules: [
        { name: "account", by: "account", limits: "9 per 1h" },
        { name: "user", by: "user", limits: "9 per 1h" },
        { name: "header", by: "header:x-tenant", limits: "9 per 1h" },
      ],
    });
    expect(await keyOf({ account: `${" ".repeat(17_000)}Ann` }, "account")).toBe("ann");
    expect(await keyOf({ account: `ann${" ".repeat(17_000)}` }, "account")).toBe("ann");
    expect(await keyOf({ account: "a".repeat(17_000) }, "account")).toBe("a".repeat(1024));
    expect(await keyOf({ user: "u".repeat(17_000) }, "user")).toBe("u".repeat(16_384));
    expect(await keyOf({ user: 42, account: 7 }, "user")).toBe("42");
    expect(await keyOf({ user: 42, account: 7 }, "account")).toBe("7");
    for (const nobody of [null, true, ["ann"], { a: 1 }]) {
      expect(await keyOf({ account: nobody }, "account")).toBeUndefined();
      expect(await keyOf({ headers: { "x-tenant": nobody === true ? {} : null } }, "header")).toBeUndefined();
      const answer = await decide({ subject: { ...subject, user: nobody, customer: nobody } });
      expect(answer.json).toMatchObject({ allowed: true });
    }
    expect(await keyOf({ headers: { "x-tenant": ["a", null, "b"], other: null } }, "header")).toBe("a, b");
  });

  it("a name of the wrong type makes no request the caller's own, so that no safelist lets it in", async () => {
    rig = await openRig({ safelist: ["127.0.0.0/8"] });
    for (const account of [null, ["ann"], false])
      expect((await decide({ subject: { account } })).json.verdicts?.[0]?.key).toBe("unknown");
  });

  it("rules for a path hold however long it is made", async () => {
    rig = await openRig({
      rules: [
        { name: "login", only: "/login", by: "ip", limits: "9 per 1h" },
        { name: "others", except: "/x", by: "ip", limits: "9 per 1h" },
        { name: "tenants", only: { host: "*.example.com" }, by: "ip", limits: "9 per 1h" },
      ],
    });
    const rulesFor = async (facts: object) =>
      (await decide({ subject: { ...subject, host: "a", ...facts } })).json.verdicts?.map(({ rule }) => rule);
    expect(await rulesFor({ path: `/login?${"x".repeat(17_000)}` })).toEqual(["login", "others"]);
    expect(await rulesFor({ path: `/x?${"x".repeat(17_000)}` })).toEqual([]);
    expect(await rulesFor({ path: `/login/${"x".repeat(17_000)}` })).toEqual(["login", "others"]);
    expect(await rulesFor({ path: `${"/x/..".repeat(4000)}/login` })).toEqual(["login", "others"]);
    expect(await rulesFor({ path: `${"/".repeat(17_000)}login` })).toEqual(["login", "others"]);
    expect(await rulesFor({ path: "/x", host: `${"a.".repeat(9000)}example.com:8080` })).toEqual(["tenants"]);
  });

  it("what a request has as text is text, or the caller's own mistake", async () => {
    rig = await openRig();
    for (const facts of [{ ip: ["::1"] }, { method: 1 }, { host: {} }, { path: ["/"] }, { headers: ["a"] }])
      expect(await decide({ subject: { ...subject, ...facts } })).toMatchObject({
        status: 400,
        json: { code: "TG_QUESTION" },
      });
  });

  it("an address is taken in every form, and what is none is the caller's own mistake: all such would be one client", async () => {
    rig = await openRig();
    const keyOf = async (ip: unknown) => (await decide({ subject: { ip } })).json.verdicts?.[0]?.key;
    for (const ip of ["203.0.113.7", " 203.0.113.7:443 ", "::ffff:203.0.113.7"])
      expect(await keyOf(ip)).toBe("203.0.113.7");
    for (const ip of ["2001:db8::1", "[2001:db8::1]:443", "2001:db8::1%eth0"])
      expect(await keyOf(ip)).toBe("2001:db8::/64");
    expect(await keyOf(null)).toBe("unknown");
    for (const ip of ["203.0.113.7, 10.0.0.1", "nonsense", "", "203.0.113.0/24", "1".repeat(100_000)]) {
      for (const body of [{ subject: { ip } }, { subjects: [subject, { ip }] }])
        expect(await decide(body)).toMatchObject({
          status: 400,
          json: {
            code: "TG_QUESTION",
            detail: expect.stringMatching(/^subject(s\[1\])?\.ip is no address: "/),
          },
        });
      const query = new URLSearchParams({ ip: ip.slice(0, 1000) });
      expect((await ask(`${rig.url}/v1/explain?${query}`)).status).toBe(400);
    }
    expect((await decide({ subject: { ip: "203.0.113.9" } })).json.verdicts?.[0]?.remaining).toBe(2);
  });
});

describe("who is believed", () => {
  it("a stranger may ask about itself, and is told how to be believed when it claims more", async () => {
    rig = await openRig({ settings: { decide: { peers: [] } } });
    const own = await decide({ subject: { path: "/x" } });
    expect(own.json.verdicts?.[0]?.key).toBe("127.0.0.1");
    const claims = [
      { subject: { ip: "203.0.113.7" } },
      { subject: { user: "1" } },
      { subject: { customer: "1" } },
      { subject: { account: "ann" } },
      { subject: { headers: {} } },
      { subject: {}, cost: 0.001 },
      { subject: { id: "again" } },
    ];
    for (const claim of claims) {
      const answer = await decide(claim);
      expect(answer).toMatchObject({ status: 403, json: { code: "TG_PEER_UNDECLARED" } });
      expect(answer.json.detail).toMatch(/decide\.peers.*decide\.token/s);
    }
    expect((await ask(`${rig.url}/v1/finish`, { body: { id: "x" } })).status).toBe(403);
    expect((await ask(`${rig.url}/v1/explain?ip=203.0.113.7`)).status).toBe(403);
  });

  it("a stranger is told what a client sees over HTTP: nothing of hidden rules, shadow ones and lists", async () => {
    const token = new Secret("right");
    rig = await openRig({
      rules: [
        { name: "open", by: "ip", limits: "9 per 1h" },
        { name: "trap", by: "ip", limits: "2 per 1h", expose: false },
        { name: "future", by: "ip", limits: "1 per 1h", mode: "shadow" },
        { name: "vip", only: "/vip", by: "ip", limits: "5 per 1h", expose: false },
      ],
      settings: { decide: { peers: [], token } },
    });
    const right = { authorization: "Bearer right" };
    const whole = await decide({ subject: {} }, right);
    expect(whole.json.verdicts?.map(({ rule }) => rule)).toEqual(["open", "trap", "future"]);
    const allowed = await decide({ subjects: [{ path: "/vip" }] });
    expect(allowed.json.decisions?.[0]).toMatchObject({ allowed: true, verdicts: [{ rule: "open" }] });
    const refused = await decide({ subject: {} });
    expect(refused.json).toMatchObject({ allowed: false, reason: "over-limit", verdicts: [], headers: {} });
    for (const { text } of [allowed, refused]) expect(text).not.toMatch(/trap|future|vip/);
    for (const rule of ["trap", "future", "vip", "none"])
      expect(await decide({ subject: {}, rule })).toMatchObject({ status: 404 });
    expect((await decide({ subject: {}, rule: "open" })).status).toBe(200);
    expect((await decide({ subject: {}, rule: "trap" }, right)).status).toBe(200);
    await rig.gate.blocklist.add("127.0.0.1", { why: "a secret reason" });
    const listed = await decide({ subject: {} });
    expect(listed.json).toMatchObject({ allowed: false, reason: "blocklist" });
    expect(listed.text).not.toContain("secret reason");
    expect((await decide({ subject: {} }, right)).text).toContain("secret reason");
  });

  it("nothing is explained to a stranger, and it is told how to be believed", async () => {
    rig = await openRig({ settings: { decide: { peers: [], token: new Secret("right") } } });
    const asked = { body: { subject: { path: "/x" } } };
    for (const answer of [await ask(`${rig.url}/v1/explain`), await ask(`${rig.url}/v1/explain`, asked)]) {
      expect(answer).toMatchObject({ status: 403, json: { code: "TG_PEER_UNDECLARED" } });
      expect(answer.json.detail).toMatch(/decide\.peers.*decide\.token/s);
      expect(answer.text).not.toContain("req/ip");
    }
    const headers = { authorization: "Bearer right" };
    expect((await ask(`${rig.url}/v1/explain`, { ...asked, headers })).json.words).toContain("req/ip");
  });

  it("with the token a stranger is believed; a wrong one is 401 even from a declared peer", async () => {
    rig = await openRig({ settings: { decide: { peers: ["127.0.0.1"], token: new Secret("right") } } });
    const as = (authorization: string) => decide({ subject }, { authorization });
    expect((await as("Bearer right")).status).toBe(200);
    for (const wrong of ["Bearer wrong", "Bearer ", "Basic right", "right", "Bearer right right"]) {
      const answer = await as(wrong);
      expect(answer).toMatchObject({ status: 401, json: { code: "TG_DECIDE_TOKEN" } });
      expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
      expect(answer.text).not.toContain("right right");
    }
    expect((await decide({ subject })).status).toBe(200);
  });

  it.each([
    ["the right one is, if nobody could guess it", "right".repeat(4), 200],
    ["one so short that it could be guessed neither", "right".repeat(3), 429],
  ])("who guesses tokens is not heard for a while; %s", async (_, right, status) => {
    rig = await openRig({ settings: { decide: { peers: [], token: new Secret(right) } } });
    const as = async (token: string) =>
      (await decide({ subject }, { authorization: `Bearer ${token}` })).status;
    const asProxy = async (token: string) =>
      (await ask(`${rig.url}/v1/auth?for=caddy`, { headers: { ...told, "tidegate-token": token } })).status;
    const told = { "x-forwarded-for": "::1", "x-forwarded-uri": "/", "x-forwarded-method": "GET" };
    expect(await as(right)).toBe(200);
    for (const guess of ["short", "much-longer-than-that-"]) {
      const guesses = await Promise.all(Array.from({ length: 40 }, (_, i) => as(`${guess}${i}`)));
      expect(guesses.filter((status) => status === 401)).toHaveLength(guess === "short" ? 20 : 0);
      expect(guesses.filter((status) => status === 429)).toHaveLength(guess === "short" ? 20 : 40);
    }
    expect(await as(right)).toBe(status);
    expect(await asProxy(right)).toBe(status);
    expect(await asProxy(`${right}?`)).toBe(429);
  });

  it("a good token on a connection is no pass for the next request on it", async () => {
    rig = await openRig({ settings: { decide: { peers: [], token: new Secret("right") } } });
    const { Agent, request } = await import("node:http");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statusWith = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const req = request(`${rig.url}/v1/decide`, { method: "POST", agent, headers }, (res) => {
          res.resume().once("end", () => resolve(res.statusCode));
        });
        req.once("error", reject);
        req.end(JSON.stringify({ subject }));
      });
    expect(await statusWith({ authorization: "Bearer right" })).toBe(200);
    expect(await statusWith({ authorization: "Bearer right" })).toBe(200);
    expect(await statusWith({})).toBe(403);
    expect(await statusWith({ authorization: "Bearer wrong" })).toBe(401);
    agent.destroy();
  });

  it("a claim without an address is nobody's address, so that no safelist lets it in", async () => {
    rig = await openRig({ safelist: ["127.0.0.0/8"] });
    expect((await decide({ subject: { customer: "42" } })).json).toMatchObject({
      reason: "within-limits",
      verdicts: [{ key: "unknown" }],
    });
  });
});

describe("GET and POST /v1/explain", () => {
  it("says in words what would be decided, free of charge", async () => {
    rig = await openRig();
    const query = "ip=203.0.113.7&path=/items&method=GET";
    for (let i = 0; i < 5; i++) {
      const { status, json } = await ask(`${rig.url}/v1/explain?${query}`);
      expect(status).toBe(200);
      expect(json).toMatchObject({ allowed: true, rules: [{ rule: "req/ip", key: "203.0.113.7" }] });
      expect(json.words).toEqual(expect.any(String));
    }
    expect((await ask(`${rig.url}/v1/explain`, { body: { subject } })).json).toMatchObject({ allowed: true });
    expect((await decide({ subject })).json.verdicts?.[0]?.remaining).toBe(2);
  });

  it("a misspelt fact, or one that is said twice, is refused by its name", async () => {
    rig = await openRig();
    const { status, json } = await ask(`${rig.url}/v1/explain?ip=203.0.113.7&pth=/login`);
    expect([status, json.code]).toEqual([400, "TG_QUESTION"]);
    expect(json.detail).toContain('"pth"');
    const twice = await ask(`${rig.url}/v1/explain?ip=203.0.113.7&ip=203.0.113.8`);
    expect([twice.status, twice.json.code]).toEqual([400, "TG_QUESTION"]);
    expect((await ask(`${rig.url}/v1/explain?__proto__=1`)).status).toBe(400);
  });
});

describe("the rest of the listener", () => {
  it("GET /health is ok", async () => {
    rig = await openRig();
    expect(await ask(`${rig.url}/health`)).toMatchObject({ status: 200, json: { ok: true } });
  });

  it("unknown paths are 404, wrong methods 405 with Allow", async () => {
    rig = await openRig();
    for (const path of ["/", "/v1", "/v1/decide/", "/v1/authx", "/constructor", "//v1/decide"])
      expect(await ask(`${rig.url}${path}`)).toMatchObject({ status: 404, json: { code: "TG_DECIDE_PATH" } });
    expect(await ask(`${rig.url}/v1/decide`)).toMatchObject({ status: 405, headers: { allow: "POST" } });
    expect(await ask(`${rig.url}/v1/explain`, { method: "DELETE" })).toMatchObject({
      status: 405,
      headers: { allow: "GET, POST" },
    });
    expect((await ask(`${rig.url}/health`, { body: "{}" })).headers.allow).toBe("GET, HEAD");
  });

  it("counts decisions and their durations by endpoint", async () => {
    rig = await openRig({ rules: [{ name: "req/ip", by: "ip", limits: "1 per 1h" }] });
    await decide({ subject });
    await decide({ subject });
    await decide("no json");
    const text = await rig.registry.metrics();
    expect(text).toContain('tidegate_decide_decisions_total{endpoint="decide",outcome="allowed"} 1');
    expect(text).toContain('tidegate_decide_decisions_total{endpoint="decide",outcome="refused"} 1');
    expect(text).toContain('tidegate_decide_decisions_total{endpoint="decide",outcome="rejected"} 1');
    expect(text).toContain('tidegate_decide_seconds_count{endpoint="decide"} 2');
    expect(text).toMatch(/tidegate_decide_seconds_bucket\{le="\+Inf",endpoint="decide"\} 2/);
    expect(text).toMatch(/tidegate_decide_seconds_sum\{endpoint="decide"\} 0\.\d+/);
    const asObjects = await rig.registry.getMetricsAsJSON();
    expect(asObjects.find(({ name }) => name === "tidegate_decide_seconds")?.values).toContainEqual(
      expect.objectContaining({ labels: { le: "+Inf", endpoint: "decide" }, value: 2 }),
    );
  });

  it("a gate that fails is 503, and says nothing of itself", async () => {
    rig = await openRig();
    rig.gate.decide = () => Promise.reject(new Error("secret reason"));
    const answer = await decide({ subject });
    expect(answer).toMatchObject({ status: 503, json: { code: "TG_DECIDE_FAILED" } });
    expect(answer.text).not.toContain("secret reason");
  });
});
