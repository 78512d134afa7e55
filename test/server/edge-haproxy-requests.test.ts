import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { canonicalBlock } from "../../packages/tidegate/src/policy/identity/address.js";
import { standardFingerprint } from "../../packages/tidegate/src/policy/identity/fingerprint.js";
import { type HaproxyRig, openHaproxyRig, statusOf, visit } from "./edge-haproxy-rig.js";
import { fingerprintVectors } from "./fingerprint-vectors.js";

let rig: HaproxyRig;

async function clear(): Promise<void> {
  for (const path of Object.values(rig.paths)) await rig.say(`clear map ${path}`);
  rig.app.seen.length = 0;
}

const hold = (map: "digests" | "addresses", key: string, value: string | number = "true") =>
  rig.say(`add map ${rig.paths[map]} ${key} ${value}`);
const mode = (name: string) => rig.say(`add map ${rig.paths.mode} mode ${name}`);
const sha256 = (text: string) => createHash("sha256").update(text, "latin1").digest("hex");
const inSeconds = (seconds: number) => Math.ceil(Date.now() / 1_000) + seconds;

describe("a request through HAProxy", () => {
  beforeAll(async () => {
    rig = await openHaproxyRig();
  });
  afterAll(() => rig.close());
  beforeEach(clear);

  it("passes as long as nobody is held, and reaches the app as it was", async () => {
    expect(await statusOf(rig, { path: "/a?b=1", userAgent: "curl/8", headers: ["X-Own: 1"] })).toBe(200);
    expect(rig.app.seen).toMatchObject([{ method: "GET", url: "/a?b=1" }]);
    const { headers } = rig.app.seen[0] ?? {};
    expect(Object.keys(headers ?? {}).filter((name) => /tidegate|reject/.test(name))).toEqual([]);
    expect(headers).toMatchObject({ host: "www.example.com", "user-agent": "curl/8", "x-own": "1" });
  });

  it("of a held client is refused, byte for byte as promised, and the app hears nothing of it", async () => {
    await hold("addresses", "203.0.113.7", inSeconds(100));
    const answer = await visit(rig);
    const [head = "", body] = answer.split("\r\n\r\n");
    const [status, ...headers] = head.split("\r\n");
    const wait = Number(/^retry-after: (\d+)$/m.exec(headers.join("\n"))?.[1]);
    expect(status).toBe("HTTP/1.1 429 Too Many Requests");
    expect(headers.sort()).toEqual([
      "cache-control: no-store",
      "connection: close",
      "content-length: 26",
      "content-type: text/html",
      `retry-after: ${wait}`,
    ]);
    expect(body).toBe("<h1>Too Many Requests</h1>");
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(101);
    expect(rig.app.seen).toEqual([]);
  });

  it.each(["POST", "PUT", "DELETE", "OPTIONS", "PURGE"])(
    "is refused whatever its method: %s",
    async (method) => {
      await hold("addresses", "203.0.113.7");
      expect(await statusOf(rig, { method })).toBe(429);
      expect(rig.app.seen).toEqual([]);
    },
  );

  it("for the head alone gets the head alone", async () => {
    await hold("addresses", "203.0.113.7");
    expect(await visit(rig, { method: "HEAD" })).toMatch(
      /^HTTP\/1\.1 429 Too Many Requests\r\n(?:.+\r\n)+\r\n$/,
    );
  });

  it("passes by itself as soon as the entry ends", async () => {
    await hold("addresses", "203.0.113.7", inSeconds(2));
    expect(await visit(rig)).toMatch(/^HTTP\/1\.1 429[\s\S]*\r\nretry-after: [123]\r\n/);
    await vi.waitFor(async () => expect(await statusOf(rig)).toBe(200), { timeout: 20_000, interval: 100 });
    expect(await rig.show("addresses")).toHaveLength(1);
  });

  it("is refused for ever where somebody wrote true, and told to ask again in a minute", async () => {
    await hold("addresses", "203.0.113.7");
    expect(await visit(rig)).toMatch(/^HTTP\/1\.1 429[\s\S]*\r\nretry-after: 60\r\n/);
  });

  it.each(["false", "0", "12", "no", "-1", "9999999999x", "x9999999999", "99999999999999999999", "TRUE"])(
    "passes where the value is %j",
    async (value) => {
      await hold("addresses", "203.0.113.7", value);
      expect(await statusOf(rig)).toBe(200);
    },
  );

  it("of others passes", async () => {
    await hold("addresses", "203.0.113.7");
    await hold("digests", sha256("15:www.example.com6:/login4:POST11:203.0.113.86:curl/8"));
    for (const other of [
      { address: "203.0.113.8" },
      { address: "203.0.113.8", method: "POST", path: "/login" },
      { address: "203.0.113.8", method: "POST", path: "/login", userAgent: "curl/9" },
      { address: "203.0.113.8", method: "POST", path: "/login/", userAgent: "curl/8" },
      { address: "203.0.113.8", method: "GET", path: "/login", userAgent: "curl/8" },
      { address: "203.0.113.8", method: "POST", path: "/login", userAgent: "curl/8", host: "example.com" },
      { address: "203.0.113.9", method: "POST", path: "/login", userAgent: "curl/8" },
    ])
      expect(await statusOf(rig, other)).toBe(200);
    const held = { address: "203.0.113.8", method: "POST", path: "/login?x", userAgent: "curl/8" };
    expect(await statusOf(rig, held)).toBe(429);
  });

  it("of a tool held on all paths is refused on every one", async () => {
    await hold("digests", sha256("11:203.0.113.79:Wfuzz/2.4"));
    for (const path of ["/", "/a", "/b?c"])
      expect(await statusOf(rig, { path, userAgent: "Wfuzz/2.4" })).toBe(429);
    expect(await statusOf(rig, { userAgent: "Wfuzz/2.5" })).toBe(200);
  });

  it("is refused when its network is held", async () => {
    await hold("addresses", "2001:db8:1:2::/64", inSeconds(100));
    await hold("addresses", "198.51.100.0/24", inSeconds(100));
    expect(await statusOf(rig, { address: "2001:db8:1:2::1" })).toBe(429);
    expect(await statusOf(rig, { address: "2001:db8:1:2:ffff:ffff:ffff:ffff" })).toBe(429);
    expect(await statusOf(rig, { address: "2001:db8:1:3::1" })).toBe(200);
    expect(await statusOf(rig, { address: "198.51.100.99" })).toBe(429);
    expect(await statusOf(rig, { address: "198.51.101.99" })).toBe(200);
  });

  it("is the same client's when its IPv4 address comes within IPv6", async () => {
    await hold("addresses", "203.0.113.7", inSeconds(100));
    expect(await statusOf(rig, { address: "::ffff:203.0.113.7" })).toBe(429);
    expect(await statusOf(rig, { address: "64:ff9b::cb00:7107" })).toBe(429);
    expect(await statusOf(rig, { address: "::ffff:203.0.113.8" })).toBe(200);
    expect(await statusOf(rig, { address: "::ffff:0:cb00:7107" })).toBe(200);
  });

  it("meets the next entry when the first one found has ended", async () => {
    const standing = inSeconds(100);
    const visitor = { address: "2001:db8:1:2::1", userAgent: "Wfuzz/2.4" };
    const standard = sha256("15:www.example.com1:/3:GET15:2001:db8:1:2::19:Wfuzz/2.4");
    await hold("digests", standard, 12);
    await hold("addresses", "2001:db8:1:2::1", 12);
    expect(await statusOf(rig, visitor)).toBe(200);
    await hold("addresses", "2001:db8:1:2::/64", standing);
    expect(await statusOf(rig, visitor)).toBe(429);
    await rig.say(`set map ${rig.paths.addresses} 2001:db8:1:2::/64 12`);
    expect(await statusOf(rig, visitor)).toBe(200);
    await hold("addresses", "2001:db8:1::/48", standing);
    expect(await statusOf(rig, visitor)).toBe(429);
    await rig.say(`set map ${rig.paths.addresses} 2001:db8:1::/48 12`);
    expect(await statusOf(rig, visitor)).toBe(200);
    await hold("digests", sha256("15:2001:db8:1:2::19:Wfuzz/2.4"), standing);
    expect(await statusOf(rig, visitor)).toBe(429);
  });

  it("meets the entry of its network when that of its address has ended", async () => {
    await hold("addresses", "203.0.113.7", 12);
    expect(await statusOf(rig)).toBe(200);
    await hold("addresses", "203.0.113.0/24", inSeconds(100));
    expect(await statusOf(rig)).toBe(429);
  });

  it("passes with a mark in shadow, without one when off, and is refused when on", async () => {
    await hold("addresses", "203.0.113.7");
    const seen = async () => {
      rig.app.seen.length = 0;
      return [await statusOf(rig), rig.app.seen[0]?.headers["tidegate-edge"]];
    };
    expect(await seen()).toEqual([429, undefined]);
    await mode("shadow");
    expect(await seen()).toEqual([200, "would-refuse"]);
    await rig.say(`set map ${rig.paths.mode} mode off`);
    expect(await seen()).toEqual([200, undefined]);
    await rig.say(`set map ${rig.paths.mode} mode on`);
    expect(await seen()).toEqual([429, undefined]);
  });

  it.each(["on", "shadow", "off"])("can not say itself what only the edge says: %s", async (name) => {
    await mode(name);
    const headers = ["X-Reject: true", "x-reject: 1", "Tidegate-Edge: would-refuse", "TIDEGATE-EDGE: x"];
    expect(await statusOf(rig, { headers })).toBe(200);
    const names = Object.keys(rig.app.seen[0]?.headers ?? {});
    expect(names).not.toContain("x-reject");
    expect(names).not.toContain("tidegate-edge");
  });

  it("is known by its first user agent, and cut short by no header", async () => {
    await hold("digests", sha256("15:www.example.com1:/3:GET11:203.0.113.71:a"));
    expect(await statusOf(rig, { userAgent: "a", headers: ["User-Agent: b"] })).toBe(429);
    expect(await statusOf(rig, { userAgent: "b", headers: ["User-Agent: a"] })).toBe(200);
    const userAgent = "x".repeat(14_000);
    await hold("digests", sha256(`15:www.example.com1:/3:GET11:203.0.113.714000:${userAgent}`));
    expect(await statusOf(rig, { userAgent })).toBe(429);
    expect(await statusOf(rig, { userAgent: `${userAgent}x` })).toBe(200);
  });

  it("over HTTP/2 is the same request", async () => {
    await hold("digests", sha256("15:www.example.com6:/login3:GET11:203.0.113.70:"));
    const session = connectHttp2("http://WWW.example.com:8080", {
      createConnection: () => {
        const socket = connect(rig.haproxy.port, "127.0.0.1");
        socket.write("PROXY TCP4 203.0.113.7 192.0.2.1 40000 80\r\n");
        return socket;
      },
    });
    const statusFor = async (path: string, authority = "WWW.example.com:8080") => {
      const request = session.request({ ":path": path, ":authority": authority });
      const [headers] = await once(request.resume(), "response");
      return headers[":status"];
    };
    try {
      expect([await statusFor("/login?x"), await statusFor("/other")]).toEqual([429, 200]);
      await hold("digests", sha256("18:www.example.com?a=6:/login3:GET11:203.0.113.70:"));
      expect(await statusFor("/login", "www.example.com?a=")).toBe(429);
    } finally {
      session.destroy();
    }
  });

  it("with a whole address for a target is the same request", async () => {
    await hold("digests", sha256("15:www.example.com6:/login3:GET11:203.0.113.70:"));
    expect(await statusOf(rig, { path: "http://www.example.com/login?x" })).toBe(429);
    await hold("digests", sha256("15:www.example.com1:*7:OPTIONS11:203.0.113.70:"));
    expect(await statusOf(rig, { method: "OPTIONS", path: "*" })).toBe(429);
  });

  it.each([
    { path: "http://www.example.com" },
    { path: "http://www.example.com", method: "OPTIONS" },
    { path: "http://www.example.com?a=1", host: "www.example.com?a=1" },
    { path: "http://www.example.com?a=/b", host: "www.example.com?a=" },
    { path: "http://www.example.com/?a=/b" },
    { path: "/a?b=http://c?d=/e" },
    { path: "//www.example.com/b" },
    { path: "*", method: "OPTIONS" },
    { path: "/a", method: "HEAD" },
    { path: "/a", address: "::203.0.113.7" },
    { path: "/a", address: "::0.1.0.2" },
    { path: "/a", address: "::1" },
  ])("is looked up as those behind HAProxy count it: %j", async (sent) => {
    const visitor = { address: "203.0.113.7", method: "GET", userAgent: "curl/8", ...sent };
    const status = await statusOf(rig, visitor);
    expect(status).toBe(200);
    const { method = "", url: path = "", headers } = rig.app.seen[0] ?? {};
    const address = canonicalBlock(visitor.address) as string;
    const facts = { host: String(headers?.host), path, method, address, userAgent: visitor.userAgent };
    await hold("digests", standardFingerprint(facts, "sha256"));
    expect(await statusOf(rig, visitor)).toBe(429);
    await clear();
    await hold("addresses", address);
    expect(await statusOf(rig, visitor)).toBe(429);
  });
});

describe("behind a proxy of one's own", () => {
  beforeAll(async () => {
    rig = await openHaproxyRig({
      client: { header: "X-Forwarded-For", from: ["192.0.2.0/24", "2001:db8:f::1"] },
    });
  });
  afterAll(() => rig.close());
  beforeEach(clear);

  it("the client is whom the proxy names last, and nobody else is believed", async () => {
    await hold("addresses", "203.0.113.7");
    await hold("digests", sha256("15:www.example.com1:/3:GET11:203.0.113.96:curl/8"));
    const named = (address: string, by: string) =>
      statusOf(rig, { address: by, headers: [`X-Forwarded-For: ${address}`] });
    expect(await named("198.51.100.1, 203.0.113.7", "192.0.2.5")).toBe(429);
    expect(await named("::ffff:203.0.113.7", "2001:db8:f::1")).toBe(429);
    expect(await named("203.0.113.7, 198.51.100.1", "192.0.2.5")).toBe(200);
    expect(await named("203.0.113.7", "198.51.100.1")).toBe(200);
    expect(await named("198.51.100.1", "203.0.113.7")).toBe(429);
    expect(await named("nobody", "192.0.2.5")).toBe(200);
    const headers = ["X-Forwarded-For: 203.0.113.9"];
    expect(await statusOf(rig, { address: "192.0.2.5", userAgent: "curl/8", headers })).toBe(429);
  });
});

describe.each(["sha256", "seed"] as const)("fingerprints in the form %s", (fingerprint) => {
  beforeAll(async () => {
    // By default HAProxy itself turns some of them away.
    const rules = "    option accept-invalid-http-request\n    http-request return status 204";
    rig = await openHaproxyRig({ fingerprint, rules });
  });
  afterAll(() => rig.close());
  afterEach(clear);

  it.each(fingerprintVectors)(
    "are the library's: $name",
    async ({ userAgent, standard, broad, ...facts }) => {
      const visitor = { ...facts, ...(userAgent !== "" && { userAgent }) };
      expect(await statusOf(rig, visitor)).toBe(204);
      for (const digest of [standard[fingerprint], broad[fingerprint]]) {
        await hold("digests", digest);
        expect(await statusOf(rig, visitor)).toBe(429);
        await clear();
      }
    },
  );
});
