import { createHash } from "node:crypto";
import { lintText } from "falco-js";
import { describe, expect, it } from "vitest";
import { canonicalBlock as canonical } from "../../packages/tidegate/src/policy/identity/address.js";
import {
  broadFingerprint,
  standardFingerprint,
} from "../../packages/tidegate/src/policy/identity/fingerprint.js";
import {
  type FastlyRenderOptions,
  fastlyCalls,
  renderFastly,
} from "../../packages/tidegate-server/src/edges/fastly/render-fastly.js";
import { confName, shardNames, shardOf } from "../../packages/tidegate-server/src/edges/fastly/shards.js";
import { type VclOutcome, type VclRequest, vclRunner } from "../servers/fastly-fake/run-vcl.js";

const states = { recv: "lookup", miss: "fetch", pass: "pass", error: "deliver" };

/** A whole service: its dictionaries as tables, the include, and the calls its head names. */
function serviceVcl(options: FastlyRenderOptions = {}): string {
  const { prefix = "tidegate", shards = 1 } = options;
  const tables = [...shardNames(prefix, shards), confName(prefix)].map((name) => `table ${name} { }`);
  const include = renderFastly({ ...options, shards }).files.map(({ text }) => text);
  const subs = fastlyCalls.map(
    (name) =>
      `sub vcl_${name} {\n  call ${prefix}_${name};\n  #FASTLY ${name}\n  return(${states[name]});\n}`,
  );
  return [...tables, ...include, ...subs].join("\n");
}

const clean = { Errors: 0, Warnings: 0, Infos: 0, LintErrors: {}, ParseErrors: {} };

describe("the VCL for Fastly", () => {
  it.each(
    [1, 2, 4, 8, 16].flatMap((shards) =>
      (["sha256", "seed"] as const).map((form) => [shards, form] as const),
    ),
  )("with %d dictionaries and %s fingerprints is found faultless by falco", async (shards, fingerprint) => {
    expect(await lintText(serviceVcl({ shards, fingerprint, prefix: "my_edge" }))).toMatchObject(clean);
  });

  it.each([
    ["a dictionary that is not there", (vcl: string) => vcl.replace("table tidegate_0 { }", "")],
    [
      "a subroutine that is not there",
      (vcl: string) => vcl.replace("sub tidegate_judge", "sub tidegate_other"),
    ],
    ["a variable never declared", (vcl: string) => vcl.replace("declare local var.agent STRING;", "")],
    [
      "a function never heard of",
      (vcl: string) => vcl.replaceAll("digest.hash_sha256", "digest.hash_sha257"),
    ],
    [
      "a wrong type",
      (vcl: string) => vcl.replace("declare local var.wait INTEGER;", "declare local var.wait STRING;"),
    ],
    ["a brace too few", (vcl: string) => vcl.replace("sub tidegate_miss {", "sub tidegate_miss")],
    [
      "a state that is no state of its subroutine",
      (vcl: string) => vcl.replace("return(deliver_stale)", "return(lookup)"),
    ],
  ])("the linter would have found %s", async (_, breaking) => {
    const vcl = serviceVcl();
    const broken = breaking(vcl);
    expect(broken).not.toBe(vcl);
    const found = await lintText(broken);
    expect(found.Errors + Object.keys(found.ParseErrors).length).toBeGreaterThan(0);
  });

  it("is one include and four one-line calls, told in its head", () => {
    const { files } = renderFastly({ prefix: "my" });
    expect(files.map(({ name }) => name)).toEqual(["tidegate.vcl"]);
    const head = files[0]?.text.slice(0, files[0].text.indexOf("\nsub "));
    for (const name of ["recv", "miss", "pass", "error"])
      expect(head).toContain(`sub vcl_${name} { call my_${name}; … }`);
  });

  it.each([
    [{ prefix: 'x"; }' }, "prefix"],
    [{ prefix: "0a" }, "prefix"],
    [{ prefix: "a-b" }, "prefix"],
    [{ shards: 3 }, "shards"],
    [{ shards: Number.NaN }, "shards"],
    [{ fingerprint: "md5" as "seed" }, "fingerprint"],
    [{ canaryPath: '/"; error 200' }, "canaryPath"],
    [{ canaryPath: "relative" }, "canaryPath"],
    [{ canaryPath: "/%22" }, "canaryPath"],
  ])("lets nothing else into it: %j", (options, path) => {
    expect(() => renderFastly(options)).toThrow(expect.objectContaining({ code: "TG_RENDER", path }));
  });
});

const now = 1_700_000_000;
const facts = {
  host: "www.example.com",
  path: "/login",
  method: "GET",
  address: "203.0.113.7",
  userAgent: "sqlmap/1.4#stable (http://sqlmap.org)",
};
const request: VclRequest = {
  url: "/login?next=/a#b",
  headers: { Host: "WWW.Example.com:8443", "User-Agent": facts.userAgent },
  ip: facts.address,
};
const standard = standardFingerprint(facts, "sha256");
const broad = broadFingerprint(facts, "sha256") as string;

interface Held {
  readonly held?: Record<string, string>;
  readonly conf?: Record<string, string>;
  readonly options?: FastlyRenderOptions;
}

async function runner({
  held = {},
  conf = {},
  options = {},
}: Held): Promise<(request: VclRequest) => VclOutcome> {
  const { shards = 1 } = options;
  const tables: Record<string, Map<string, string>> = { tidegate_conf: new Map(Object.entries(conf)) };
  for (const name of shardNames("tidegate", shards)) tables[name] = new Map();
  for (const [key, value] of Object.entries(held))
    tables[`tidegate_${shardOf(key, shards)}`]?.set(key, value);
  return vclRunner(serviceVcl(options), { tables, now: () => now });
}

const soon = String(now + 90);

describe("what the VCL does, run statement by statement as falco reads it", () => {
  it("a client that is not held reaches the origin, and carries no mark", async () => {
    const run = await runner({ held: { "198.51.100.1": soon } });
    const { from, asked, trace } = run(request);
    expect([from, trace]).toEqual(["origin", ["recv", "lookup", "miss"]]);
    expect(Object.keys(asked).sort()).toEqual(["host", "user-agent"]);
  });

  it.each([
    ["standard", standard],
    ["address", facts.address],
    ["broad", broad],
  ])("held by its %s key: 429, exactly", async (_, key) => {
    const outcome = (await runner({ held: { [key]: soon } }))(request);
    expect(outcome).toMatchObject({
      from: "synthetic",
      status: 429,
      response: "Too Many Requests",
      body: "<h1>Too Many Requests</h1>",
      headers: { "content-type": "text/html", "retry-after": "90", "cache-control": "no-store" },
      trace: ["recv", "lookup", "miss", "error", "deliver"],
    });
    expect(Buffer.byteLength(outcome.body)).toBe(26);
  });

  it("standard is asked before address, address before broad: the first that holds says how long", async () => {
    const wait = async (held: Record<string, string>) =>
      (await runner({ held }))(request).headers["retry-after"];
    const [first, second, third] = [String(now + 10), String(now + 20), String(now + 30)];
    expect(await wait({ [standard]: first, [facts.address]: second, [broad]: third })).toBe("10");
    expect(await wait({ [facts.address]: second, [broad]: third })).toBe("20");
    expect(await wait({ [broad]: third })).toBe("30");
    expect(await wait({ [standard]: String(now - 1), [broad]: third })).toBe("30");
  });

  it.each([
    ["true", 429],
    [String(now + 1), 429],
    [String(now), 200],
    [String(now - 1), 200],
    ["false", 200],
    ["", 200],
    ["TRUE", 200],
    ["1e12", 200],
    ["-1", 200],
    [`${now + 90} `, 200],
    ["9".repeat(13), 200],
    ["garbage", 200],
  ])("the value %j: %d", async (value, status) => {
    expect((await runner({ held: { [standard]: value } }))(request).status).toBe(status);
  });

  it("limited on one path, free on another; other methods, hosts and user agents are others", async () => {
    const run = await runner({ held: { [standard]: soon } });
    expect(run(request).status).toBe(429);
    expect(run({ ...request, url: "/other" }).status).toBe(200);
    expect(run({ ...request, method: "POST" }).status).toBe(200);
    expect(run({ ...request, method: "HEAD" }).status).toBe(429);
    expect(run({ ...request, headers: { ...request.headers, Host: "example.com" } }).status).toBe(200);
    expect(run({ ...request, headers: { ...request.headers, "User-Agent": "x" } }).status).toBe(200);
  });

  it("a held client gets what is cached, then what is stale, and only then 429", async () => {
    const run = await runner({ held: { [facts.address]: soon } });
    for (const method of ["GET", "HEAD"]) {
      expect(run({ ...request, method, cache: "fresh" }).from).toBe("cache");
      expect(run({ ...request, method, cache: "stale" })).toMatchObject({ from: "stale", status: 200 });
      expect(run({ ...request, method, cache: "nothing" }).status).toBe(429);
    }
  });

  it("what can not be cached is refused in pass", async () => {
    const run = await runner({ held: { [facts.address]: soon } });
    expect(run({ ...request, cache: "pass" })).toMatchObject({
      status: 429,
      trace: ["recv", "pass", "error", "deliver"],
    });
  });

  it.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get"])(
    "%s is refused at once, whatever is cached for GET",
    async (method) => {
      const run = await runner({ held: { [facts.address]: soon } });
      for (const cache of ["fresh", "stale", "nothing", "pass"] as const)
        expect(run({ ...request, method, cache })).toMatchObject({
          status: 429,
          from: "synthetic",
          trace: ["recv", "error", "deliver"],
        });
    },
  );

  it("a client's own X-Reject, Tidegate-Edge and Tidegate-Wait say nothing", async () => {
    const run = await runner({});
    const own = {
      "X-Reject": "true",
      "Tidegate-Edge": "would-refuse",
      "Tidegate-Wait": "9",
      "x-reject": "true",
    };
    const { from, asked } = run({ ...request, headers: { ...request.headers, ...own } });
    expect([from, Object.keys(asked).sort()]).toEqual(["origin", ["host", "user-agent"]]);
  });

  it("off refuses nobody; shadow marks who would be refused; on, or nothing said, refuses", async () => {
    const held = { [facts.address]: soon };
    const by = async (conf: Record<string, string>) => (await runner({ held, conf }))(request);
    expect(await by({ mode: "off" })).toMatchObject({
      from: "origin",
      asked: expect.not.objectContaining({ "tidegate-edge": expect.anything() }),
    });
    const shadow = await by({ mode: "shadow" });
    expect([shadow.from, shadow.asked["tidegate-edge"]]).toEqual(["origin", "would-refuse"]);
    expect(shadow.asked).not.toHaveProperty("x-reject");
    for (const conf of [{}, { mode: "on" }, { mode: "nonsense" }])
      expect((await by(conf as Record<string, string>)).status).toBe(429);
  });

  it("a shield judges nobody, keeps the mark of the first, and believes no X-Reject", async () => {
    const run = await runner({ held: { [facts.address]: soon } });
    const { from, asked } = run({
      ...request,
      visits: 1,
      headers: { ...request.headers, "Tidegate-Edge": "would-refuse", "X-Reject": "true" },
    });
    expect([from, asked["tidegate-edge"], asked["x-reject"]]).toEqual(["origin", "would-refuse", undefined]);
  });

  it("after a restart what was found first holds, whatever the URL is by now", async () => {
    const run = await runner({ held: { [standard]: soon } });
    const restarted = { ...request, restarts: 1, url: "/rewritten" };
    expect(
      run({ ...restarted, headers: { ...request.headers, "X-Reject": "true", "Tidegate-Wait": "7" } }),
    ).toMatchObject({ status: 429, headers: { "retry-after": "7" } });
    expect(run(restarted).from).toBe("origin");
    expect(run({ ...request, restarts: 1 }).from).toBe("origin");
  });

  it.each([
    [503, "Service Unavailable"],
    [601, "their own redirect"],
    [404, "Not Found"],
  ])("%d %s of others goes through untouched", async (status, response) => {
    for (const held of [{}, { [facts.address]: soon }])
      expect((await runner({ held }))({ ...request, error: { status, response } })).toMatchObject({
        status,
        response,
        body: "",
        headers: {},
      });
  });

  it("the canary is told by every service, to anybody, and never cached", async () => {
    const run = await runner({
      conf: { canary: "1700000000123", mode: "off" },
      held: { [facts.address]: soon },
    });
    expect(run({ ...request, url: "/.tidegate/canary?x" })).toMatchObject({
      status: 200,
      body: "1700000000123",
      headers: { "cache-control": "no-store" },
    });
    expect((await runner({}))({ url: "/.tidegate/canary" }).body).toBe("0");
  });
});

describe("keys at the edge are the library's, byte for byte", () => {
  const agents = [
    "",
    "curl/8",
    'a"b;c\\d%41 (x)',
    "ü\xff\x80 latin1",
    "5:x9:y",
    `sqlmap/${"x".repeat(3_000)}`,
  ];
  const hosts = [
    "example.com",
    "EXAMPLE.com:443",
    "[2001:db8::1]:8443",
    "[::1]",
    "a:b:1",
    "example.com:",
    ":80",
    "",
  ];
  const urls = ["/", "/a%2Fb", "/a?b", "/a#b?c", "//x", "/a:b", "/\xe9"];
  const ips = ["203.0.113.7", "2001:db8::1", "2001:db8:1:2:3:4:5:6", "::1"];

  it.each(["sha256", "seed"] as const)(
    "standard and broad, in the form %s",
    async (fingerprint) => {
      const options = { fingerprint, shards: 4 } as const;
      const tables: Record<string, Map<string, string>> = { tidegate_conf: new Map() };
      for (const name of shardNames("tidegate", 4)) tables[name] = new Map();
      const run = await vclRunner(serviceVcl(options), { tables, now: () => now });
      const heldBy = (key: string, sent: VclRequest): number => {
        const table = tables[`tidegate_${shardOf(key, 4)}`] as Map<string, string>;
        table.set(key, soon);
        const { status } = run(sent);
        table.delete(key);
        return status;
      };
      for (const host of hosts)
        for (const url of urls)
          for (const userAgent of agents)
            for (const address of ips) {
              const method = ["GET", "Post", "HEAD"][url.length % 3] as string;
              const sent = { method, url, ip: address, headers: { Host: host, "User-Agent": userAgent } };
              const key = standardFingerprint({ host, path: url, method, address, userAgent }, fingerprint);
              expect([sent, heldBy(key, sent)]).toEqual([sent, 429]);
              const broadKey = broadFingerprint({ address, userAgent }, fingerprint);
              if (broadKey !== undefined) expect([sent, heldBy(broadKey, sent)]).toEqual([sent, 429]);
            }
      expect(run(request).status).toBe(200);
    },
    60_000,
  );

  it("a missing user agent or host counts as an empty one", async () => {
    const key = standardFingerprint(
      { host: "", path: "/", method: "GET", address: "203.0.113.7", userAgent: "" },
      "sha256",
    );
    expect((await runner({ held: { [key]: soon } }))({ ip: "203.0.113.7" }).status).toBe(429);
  });

  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["2001:db8::1", "2001:db8::1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8::/64"],
    ["2001:db8:0:1::5", "2001:db8:0:1::/64"],
    ["2001:0:0:1::5", "2001:0:0:1::/64"],
    ["2001::5", "2001::/64"],
    ["203.0.113.7", "203.0.113.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:db8::1", "2001:db8::/48"],
    ["2001:0:5::", "2001:0:5::/48"],
    ["2a00:1:2:0:ffff::", "2a00:1:2::/64"],
  ])("%s is held by %s", async (ip, key) => {
    expect(canonical(key)).toBe(key);
    const run = await runner({ held: { [key]: soon }, options: { shards: 16 } });
    expect(run({ ip }).status).toBe(429);
    expect(run({ ip: "2001:db9::1" }).status).toBe(200);
  });

  it("dictionaries are told apart alike here and there", async () => {
    for (const shards of [1, 2, 4, 8, 16])
      for (const ip of ["203.0.113.1", "203.0.113.2", "203.0.113.3", "198.51.100.77", "2001:db8::5"]) {
        const digit = createHash("sha256").update(ip).digest("hex").charAt(0);
        expect(shardOf(ip, shards)).toBe(Math.floor(Number.parseInt(digit, 16) / (16 / shards)));
        expect((await runner({ held: { [ip]: soon }, options: { shards } }))({ ip }).status).toBe(429);
      }
  });
});
