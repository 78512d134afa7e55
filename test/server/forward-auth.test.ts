import { concurrency } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import { ask, openRig, type Rig } from "./decide-rig.js";

let rig: Rig;
afterEach(() => rig?.close());

const nginx = { "X-Original-URI": "/", "X-Original-Method": "GET", "X-Real-IP": "203.0.113.7" };
const caddy = { "X-Forwarded-Uri": "/", "X-Forwarded-Method": "GET", "X-Forwarded-For": "203.0.113.7" };

async function clientSeen(
  path: string,
  headers: Record<string, string | string[]>,
): Promise<string | undefined> {
  let ip: string | undefined;
  const stop = rig.gate.on("decision", ({ subject }) => {
    ip = subject.ip;
  });
  await ask(`${rig.url}${path}`, { headers });
  stop();
  return ip;
}

describe("/v1/auth", () => {
  it("the first `for` counts; the path may name the proxy too", async () => {
    rig = await openRig();
    expect((await ask(`${rig.url}/v1/auth?for=caddy&for=nginx`, { headers: caddy })).status).toBe(200);
    expect((await ask(`${rig.url}/v1/auth?for=nginx&for=caddy`, { headers: caddy })).json.code).toBe(
      "TG_AUTH_FACTS",
    );
    expect((await ask(`${rig.url}/v1/auth/caddy?for=nginx`, { headers: caddy })).status).toBe(200);
    for (const path of [
      "/v1/auth",
      "/v1/auth?for=",
      "/v1/auth?for=envoy",
      "/v1/auth/",
      "/v1/auth/constructor",
    ])
      expect((await ask(`${rig.url}${path}`, { headers: caddy })).json.code).toBe("TG_AUTH_FOR");
  });

  it("a client's header lines beyond those that are looked at push no rule aside", async () => {
    rig = await openRig({
      settings: { identify: { user: "X-User-Id" } },
      rules: [{ name: "api", by: "user", limits: ["1 per hour"] }],
    });
    const asked = (lines: number, proxy = "caddy") => {
      const facts = proxy === "nginx" ? nginx : caddy;
      // As Go sorts them: what the proxy says of the user comes last.
      const headers = {
        Host: "localhost",
        Connection: "close",
        a: Array<string>(lines).fill("1"),
        ...facts,
        "X-User-Id": "ann",
      };
      return ask(`${rig.url}/v1/auth?for=${proxy}`, { headers });
    };
    expect((await asked(900)).status).toBe(200);
    expect((await asked(900)).status).toBe(429);
    for (const lines of [994, 996, 1000, 1020, 5000]) {
      const { status, json } = await asked(lines);
      expect([lines, status]).toEqual([lines, lines === 994 ? 429 : 431]);
      if (status === 431) expect(json.code).toBe("TG_REQUEST");
      expect((await asked(lines, "nginx")).status).toBe(403);
    }
  });

  it("a fact the proxy left out is named", async () => {
    rig = await openRig();
    for (const [proxy, headers] of [
      ["nginx", nginx],
      ["caddy", caddy],
      ["traefik", caddy],
    ] as const)
      for (const missing of Object.keys(headers)) {
        const left = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== missing));
        const { status, json } = await ask(`${rig.url}/v1/auth?for=${proxy}`, { headers: left });
        expect(status).toBe(400);
        expect(json.detail?.toLowerCase()).toContain(missing.toLowerCase());
      }
  });

  it("the client is whom the proxy was called by; further hops only where trusted proxies stand between", async () => {
    rig = await openRig({ settings: { trustedProxies: ["10.0.0.0/8"] } });
    const asNginx = (real: string, hops: string) =>
      clientSeen("/v1/auth?for=nginx", { ...nginx, "X-Real-IP": real, "X-Forwarded-For": hops });
    expect(await asNginx("203.0.113.7", "198.51.100.1")).toBe("203.0.113.7");
    expect(await asNginx("10.0.0.1", "198.51.100.1, 203.0.113.9")).toBe("203.0.113.9");
    expect(await asNginx("10.0.0.1", "198.51.100.1, 10.0.0.2, 10.0.0.1")).toBe("198.51.100.1");
    const asCaddy = (hops: string) => clientSeen("/v1/auth/caddy", { ...caddy, "X-Forwarded-For": hops });
    expect(await asCaddy("198.51.100.1, 203.0.113.7")).toBe("203.0.113.7");
    expect(await asCaddy("198.51.100.1, 10.0.0.1")).toBe("198.51.100.1");
    expect(await asCaddy("10.0.0.1")).toBe("10.0.0.1");
  });

  it("an address that can not be read is judged, and never a bad question", async () => {
    rig = await openRig();
    for (const odd of ["unix:", "nonsense", "203.0.113.7, nonsense"]) {
      for (const [path, headers] of [
        ["/v1/auth/nginx", { ...nginx, "X-Real-IP": odd }],
        ["/v1/auth/caddy", { ...caddy, "X-Forwarded-For": odd }],
      ] as const)
        expect(await ask(`${rig.url}${path}`, { headers })).not.toMatchObject({ status: 400 });
    }
    expect(rig.gate.metrics().decisions).toBe(6);
  });

  it.each(["draft-11", ["draft-6", "legacy"]] as const)(
    "is short whatever the policy: as %s",
    async (headers) => {
      const rules = Array.from({ length: 255 }, (_, i) => ({
        name: `${i}${'"'.repeat(60)}`,
        by: "ip" as const,
        limits: i === 200 ? ("1 per 1h" as const) : ("999999999999999 per 1d" as const),
      }));
      rig = await openRig({
        rules,
        newKeysPerSecond: false,
        settings: { responses: { headers, status: 429 } },
      });
      for (const [path, asked, refused] of [
        ["/v1/auth?for=nginx", nginx, 403],
        ["/v1/auth?for=caddy", { ...caddy, "X-Forwarded-For": "203.0.113.8" }, 429],
      ] as const)
        for (const status of [200, refused]) {
          const answer = await ask(`${rig.url}${path}`, { headers: asked });
          expect(answer.status).toBe(status);
          const length = Object.entries(answer.headers).flat().join("").length;
          expect(length).toBeLessThan(4000);
          const limit = answer.headers.ratelimit ?? answer.headers["ratelimit-limit"];
          expect(limit).toMatch(/^("200|1$)/);
        }
    },
  );

  it("who is logged in is believed from declared proxies, under the names of identify", async () => {
    rig = await openRig({
      rules: [{ name: "customer", by: "customer", limits: "1 per 1h" }],
      settings: { identify: { customer: "X-Customer-Id", user: "X-User-Id" } },
    });
    const as = (customer: string) =>
      ask(`${rig.url}/v1/auth?for=nginx`, { headers: { ...nginx, "x-customer-id": customer } });
    expect((await as("a")).status).toBe(200);
    expect((await as("a")).status).toBe(403);
    expect((await as("b")).status).toBe(200);
  });

  it("an account is claimed in the header identify names, else in basic auth; a question has no body to look at", async () => {
    const rules = [{ name: "account", by: "account" as const, limits: "1 per 1h" as const }];
    rig = await openRig({ rules, settings: { identify: { account: "X-Login-Name" } } });
    const as = async (headers: Record<string, string>): Promise<number> =>
      (await ask(`${rig.url}/v1/auth?for=nginx`, { headers: { ...nginx, ...headers } })).status;
    expect(await as({ "x-login-name": "ann" })).toBe(200);
    expect(await as({ "x-login-name": "Ann" })).toBe(403);
    expect(await as({ authorization: `Basic ${btoa("ann:x")}` })).toBe(403);
    expect(await as({ "x-login-name": "bob" })).toBe(200);
  });

  it("an undeclared proxy needs the token, in a header of its own: Authorization is the client's", async () => {
    rig = await openRig({ settings: { decide: { peers: [], token: new Secret("right") } } });
    const url = `${rig.url}/v1/auth?for=nginx`;
    expect((await ask(url, { headers: nginx })).json).toMatchObject({
      status: 403,
      code: "TG_PEER_UNDECLARED",
    });
    expect((await ask(url, { headers: { ...nginx, authorization: "Bearer right" } })).status).toBe(403);
    expect((await ask(url, { headers: { ...nginx, "tidegate-token": "wrong" } })).status).toBe(401);
    expect((await ask(url, { headers: { ...nginx, "tidegate-token": "right" } })).status).toBe(200);
  });

  it("nginx is told 403 and what it means, and for how long to repeat it", async () => {
    rig = await openRig({ rules: [{ name: "req/ip", by: "ip", limits: "1 per 1h" }] });
    const url = `${rig.url}/v1/auth?for=nginx`;
    const allowed = await ask(url, { headers: nginx });
    expect(allowed.headers["x-accel-expires"]).toBeUndefined();
    expect(allowed.headers["content-length"]).toBe("0");
    const refused = await ask(url, { headers: nginx });
    expect(refused.status).toBe(403);
    expect(refused.headers).toMatchObject({
      "x-tidegate-status": "429",
      "x-accel-expires": "5",
      "retry-after": expect.stringMatching(/^\d+$/),
      "tidegate-decision": expect.any(String),
    });
    await rig.gate.blocklist.add("203.0.113.7");
    const listed = await ask(url, { headers: nginx });
    expect(listed.headers).toMatchObject({ "x-tidegate-status": "403", "x-accel-expires": "5" });
    expect(listed.headers["retry-after"]).toBeUndefined();
  });

  it("a refusal of somebody behind another proxy is not kept under that proxy's address", async () => {
    rig = await openRig({ settings: { trustedProxies: ["203.0.113.7"] } });
    await rig.gate.blocklist.add("198.51.100.1");
    const headers = { ...nginx, "X-Forwarded-For": "198.51.100.1" };
    const refused = await ask(`${rig.url}/v1/auth?for=nginx`, { headers });
    expect(refused.status).toBe(403);
    expect(refused.headers["x-accel-expires"]).toBe("0");
    await rig.gate.blocklist.add("203.0.113.7");
    const own = await ask(`${rig.url}/v1/auth?for=nginx`, { headers: nginx });
    expect(own.headers["x-accel-expires"]).toBe("5");
  });

  it("a path in other letters is the same path", async () => {
    rig = await openRig({ rules: [{ name: "login", by: "ip", only: "/login", limits: "1 per hour" }] });
    const at = async (path: string) =>
      (await ask(`${rig.url}/v1/auth?for=caddy`, { headers: { ...caddy, "X-Forwarded-Uri": path } })).status;
    expect([await at("/login"), await at("/LOGIN"), await at("/other")]).toEqual([200, 429, 200]);
  });

  it("where nobody says how a request ended, leases are released and what was reserved stays counted", async () => {
    rig = await openRig({
      rules: [
        { name: "slots", only: "/slots", by: "ip", limits: [concurrency({ limit: 1, leaseFor: "1h" })] },
        { name: "login", only: "/login", by: "ip", limits: "2 per 1h", count: "failures" },
      ],
      settings: { decide: { canFinish: true } },
    });
    const at = async (path: string) =>
      (await ask(`${rig.url}/v1/auth/caddy`, { headers: { ...caddy, "X-Forwarded-Uri": path } })).status;
    for (let i = 0; i < 3; i++) expect(await at("/slots")).toBe(200);
    expect([await at("/login"), await at("/login"), await at("/login")]).toEqual([200, 200, 429]);
  });

  it("a rule that delays refuses: a proxy would give up waiting, and open", async () => {
    rig = await openRig({
      rules: [{ name: "slow", by: "ip", limits: "1 per 1h", action: "delay", maxDelay: "2h" }],
    });
    expect((await ask(`${rig.url}/v1/auth/caddy`, { headers: caddy })).status).toBe(200);
    expect((await ask(`${rig.url}/v1/auth/caddy`, { headers: caddy })).status).toBe(429);
  });

  it("a gate that fails is 503, which proxies take for no answer", async () => {
    rig = await openRig();
    rig.gate.decide = () => Promise.reject(new Error("broken"));
    const answer = await ask(`${rig.url}/v1/auth/caddy`, { headers: caddy });
    expect(answer).toMatchObject({ status: 503, json: { code: "TG_DECIDE_FAILED" } });
    expect(answer.text).not.toContain("broken");
    expect(rig.logged.some(({ level }) => level === "error")).toBe(true);
  });
});
