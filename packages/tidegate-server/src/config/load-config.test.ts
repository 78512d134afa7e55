import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { Secret } from "../secret.js";
import { ConfigFileError, type ConfigProblem, problemsOf } from "./config-file-error.js";
import { demoConfig, type LoadOptions, loadConfig } from "./load-config.js";
import { parsePolicy } from "./parse-policy.js";

const folder = mkdtempSync(join(tmpdir(), "tidegate-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string | Uint8Array, name = "tidegate.yaml"): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function load(text: string, options: LoadOptions = {}) {
  return loadConfig({ env: {}, cwd: folder, ...options, file: fileOf(text) });
}

function failure(act: () => unknown): ConfigFileError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigFileError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

function problems(text: string, options: LoadOptions = {}): readonly ConfigProblem[] {
  return problemsOf(failure(() => load(text, options)));
}

/** The one problem there is. */
function problem(text: string, options: LoadOptions = {}): ConfigProblem {
  const found = problems(text, options);
  expect(found, JSON.stringify(found)).toHaveLength(1);
  return found[0] as ConfigProblem;
}

const app = "upstreams: [{ url: http://127.0.0.1:3000 }]\n";

describe("a file", () => {
  it("needs an upstream only, and gets every default", () => {
    const { settings, policyText, warnings, file } = load(app);
    expect(settings).toEqual({
      listen: {
        proxy: { host: "127.0.0.1", port: 8080 },
        admin: { host: "127.0.0.1", port: 8088 },
        decide: { host: "127.0.0.1", port: 8090 },
      },
      upstreams: [{ name: "default", urls: ["http://127.0.0.1:3000"], hosts: [], path: "/" }],
      proxy: {
        maxHeaderBytes: 16_384,
        headersTimeoutMs: 10_000,
        requestTimeoutMs: 300_000,
        keepAliveMs: 65_000,
        connectTimeoutMs: 3_000,
        responseTimeoutMs: 60_000,
        idleTimeoutMs: 60_000,
        connections: 128,
      },
      decide: { peers: [], canFinish: false, hosts: [] },
      admin: { hosts: [] },
      trustedProxies: [],
      clientIpHeader: "x-forwarded-for",
      identify: {},
      identity: {},
      responses: { headers: "draft-11" },
      store: { kind: "memory" },
      dataDir: join(folder, "tidegate-data"),
      failure: { deadlineMs: 100, breaker: { failures: 5, pauseMs: 1000 }, onStoreFailure: "local" },
      customers: {},
      control: {
        everyMs: 5000,
        holdOffMs: 600_000,
        spare: [
          "10.0.0.0/8",
          "172.16.0.0/12",
          "192.168.0.0/16",
          "127.0.0.0/8",
          "169.254.0.0/16",
          "::1",
          "fe80::/10",
          "fc00::/7",
        ],
        guard: { newPerMinute: 5000, share: 0.5 },
      },
      edges: {},
      rehearse: { keep: 20_000 },
      metrics: { offenders: 20 },
      logs: { level: "info" },
      workers: 1,
      drainMs: 10_000,
      isDemo: false,
    });
    expect(parsePolicy(policyText)).toEqual({ rules: [] });
    expect(warnings.map(({ code }) => code)).toEqual(["TG_POLICY_EMPTY"]);
    expect(file).toBe(join(folder, "tidegate.yaml"));
  });

  it("says every setting there is", () => {
    const { settings, warnings } = load(
      `
listen: { proxy: 0.0.0.0:80, admin: 9000, decide: "[::1]:0" }
upstreams:
  - { name: api, urls: ["http://10.0.0.5:3000", "https://[::1]"], hosts: [api.example.com, "*.API.example.com"], path: /api/ }
  - { url: "\${APP}", host: example.com, health: { path: /healthz?full, every: 1s, timeout: 500ms, failures: 1, successes: 1 } }
trustedProxies: [10.0.0.0/8, loopback]
clientIpHeader: CF-Connecting-IP
identify: { customer: X-Customer-Id, user: X-User-Id }
identity: { ipv6Prefix: 56, networkPrefixes: [16, 32], fingerprint: seed }
store: { kind: redis, url: "rediss://:\${PASSWORD}@redis:6380/2", prefix: edge, cluster: true }
data: state
failure: { deadline: 40ms, breaker: { failures: 2, pause: 5s }, onStoreFailure: deny }
decide: { peers: [private], token: "\${TOKEN}", canFinish: true, hosts: [Tidegate.internal] }
admin: { token: "\${TOKEN}", hosts: [admin.internal] }
proxy: { maxHeaderBytes: 8192, maxBodyBytes: 0, headersTimeout: 1s, requestTimeout: 2s, keepAlive: 3s, connectTimeout: 4s, responseTimeout: 5s, idleTimeout: 6s, connections: 7 }
responses: { headers: [draft-11, legacy], status: 503 }
customers: { source: { kind: sql, url: "file:customers.db", select: "SELECT 1", update: "UPDATE x SET y = $1" } }
control: { track: { methods: [get], standard: 10/minute, broad: 20/minute, holdFor: 2m } }
edges: { cdn: { kind: memory } }
metrics: { offenders: 0 }
logs: { level: silent }
workers: \${WORKERS:-4}
drain: 1m
policy: { rules: [{ name: r, by: ip, limits: 1 per second }] }
`,
      { env: { APP: "http://127.0.0.1:3000", PASSWORD: "hunter2hunter2", TOKEN: "0123456789abcdef" } },
    );
    expect(warnings).toEqual([]);
    expect(settings.listen).toEqual({
      proxy: { host: "0.0.0.0", port: 80 },
      admin: { host: "127.0.0.1", port: 9000 },
      decide: { host: "::1", port: 0 },
    });
    expect(settings.upstreams).toEqual([
      {
        name: "api",
        urls: ["http://10.0.0.5:3000", "https://[::1]"],
        hosts: ["api.example.com", "*.api.example.com"],
        path: "/api",
      },
      {
        name: "example.com",
        urls: ["http://127.0.0.1:3000"],
        hosts: ["example.com"],
        path: "/",
        health: { path: "/healthz?full", everyMs: 1000, timeoutMs: 500, failures: 1, successes: 1 },
      },
    ]);
    expect(settings.store).toMatchObject({ kind: "redis", prefix: "edge", isCluster: true });
    expect((settings.store as { url: Secret }).url.reveal()).toBe("rediss://:hunter2hunter2@redis:6380/2");
    expect(settings.decide.token?.equals("0123456789abcdef")).toBe(true);
    expect(settings.decide.hosts).toEqual(["tidegate.internal"]);
    expect(settings.dataDir).toBe(join(folder, "state"));
    expect(settings.failure).toEqual({
      deadlineMs: 40,
      breaker: { failures: 2, pauseMs: 5000 },
      onStoreFailure: "deny",
    });
    expect(settings.identify).toEqual({ customer: "x-customer-id", user: "x-user-id" });
    expect(settings.identity).toEqual({ ipv6Prefix: 56, networkPrefixes: [16, 32], fingerprint: "seed" });
    const { source } = settings.customers;
    expect(source?.kind === "sql" && source.url.reveal()).toBe(`file:${join(folder, "customers.db")}`);
    expect(settings.control.track).toEqual({
      methods: ["GET"],
      standard: "10/minute",
      broad: "20/minute",
      halfLifeMs: 30_000,
      holdFor: [120_000],
    });
    expect([settings.workers, settings.drainMs, settings.metrics.offenders]).toEqual([4, 60_000, 0]);
  });

  it("is told as file, line, column, path, what is wrong, what to write, and the line with a caret", () => {
    const error = failure(() =>
      load(`${app}policy:\n  rules:\n    - { name: a, by: ip, limits: [5 pr 1m] }\n`),
    );
    expect(error.message).toBe(`${join(folder, "tidegate.yaml")} can not be used: 1 problem.

${join(folder, "tidegate.yaml")}:4:35 policy.rules[0].limits[0]
  "5 pr 1m" is not a rate.
  Write a text such as "100 per hour", "300 per 5m", "300 per 5 minutes" or "10/day": a number, "per" or "/", and second, minute, hour, day, week, so many of these, or a duration in ms, s, m, h, d, w. [TG_RATE]
     4 |     - { name: a, by: ip, limits: [5 pr 1m] }
       |                                   ^`);
    expect(error.code).toBe("TG_RATE");
  });

  it("is told everything that is wrong at once, in the order of its lines", () => {
    const found = problems(`
listen: { proxy: nowhere }
upstreams: [{ url: "ftp://x" }, { url: "http://x/path", path: /b }, { path: /c }]
workers: 0
drain: soon
policy:
  rules:
    - { name: a, by: nobody, limits: [1 per second] }
    - { name: b, by: ip, limits: [{ fixedWindow: { limit: -1, window: 1s } }] }
    - { name: c, by: ip, limits: [1 per second] }
    - { name: c, by: ip, limits: [1 per second] }
  safelist: [10.0.0.0/8, x, y]
`);
    expect(found.map(({ line, path, code }) => [line, path, code])).toEqual([
      [2, "listen.proxy", "TG_LISTEN_ADDRESS"],
      [3, "upstreams[0].url", "TG_URL"],
      [3, "upstreams[1].url", "TG_URL"],
      [3, "upstreams[2]", "TG_UPSTREAMS"],
      [4, "workers", "TG_CONFIG_VALUE"],
      [5, "drain", "TG_DURATION"],
      [8, "policy.rules[0].by", "TG_BY"],
      [9, "policy.rules[1].limits[0].fixedWindow.limit", "TG_LIMIT"],
      [11, "policy.rules[3].name", "TG_RULE_TWICE"],
      [12, "policy.safelist[1]", "TG_LIST_ADDRESS"],
      [12, "policy.safelist[2]", "TG_LIST_ADDRESS"],
    ]);
  });

  it.each([
    ["upstream: []", "upstream", "Did you mean upstreams?"],
    ["trusted_proxies: []", "trusted_proxies", "Did you mean trustedProxies?"],
    ["admin: { tokn: abcdefgh }", "admin.tokn", "Did you mean token?"],
    ["rules: []", "rules", "under policy"],
    ["policy: { rules: [], store: redis }", "policy.store", "at the top of the file"],
    [
      "policy: { rules: [{ name: a, by: ip, limit: [1/s] }] }",
      "policy.rules[0].limit",
      "Did you mean limits?",
    ],
    ["zebra: 1", "zebra", "There are listen, upstreams"],
  ])("refuses the unknown key of %s", (text, path, help) => {
    const found = problem(`${app}${text}\n`);
    expect(found).toMatchObject({ code: "TG_CONFIG_KEY", line: 2, path });
    expect(found.help).toContain(help);
  });

  it.each([
    ["proxy: { headersTimeout: 10 }", "proxy.headersTimeout", "with its unit"],
    ["proxy: { headersTimeout: 30d }", "proxy.headersTimeout", "at most 24d"],
    ["failure: { deadline: 2m }", "failure.deadline", "at most 1m"],
    ["logs: { level: inf }", "logs.level", "Did you mean info?"],
    ["policy:", "policy", "Write a map"],
    ["workers: many", "workers", "whole number from 1 to 128"],
    ["data: 5", "data", 'quotes around it: "5"'],
    ["data: ' '", "data", "Write a path"],
    ["trustedProxies: [0.0.0.0/0]", "trustedProxies[0]", "Name your own proxies"],
    ["trustedProxies: 10.0.0.1", "trustedProxies", "Write a list"],
    ["clientIpHeader: 'a b'", "clientIpHeader", "Give one name"],
    ["identify: { user: 'a b' }", "identify.user", "X-User-Id"],
    ["identify: { account: 'a b' }", "identify.account", "{ field: email }"],
    ["identify: { account: [email] }", "identify.account", "{ field: email }"],
    ["identify: { account: { field: '' } }", "identify.account.field", "e.g. email"],
    ["identify: { account: { feild: email } }", "identify.account.feild", "Did you mean field?"],
    ["decide: { peers: [everyone] }", "decide.peers[0]", "Name your own proxies"],
    ["admin: { hosts: ['http://x'] }", "admin.hosts[0]", "without scheme"],
    ["responses: { headers: draft-99 }", "responses.headers", "draft-11"],
    ["responses: { status: 200 }", "responses.status", "from 400 to 599"],
    ["edges: { cdn: { kind: squid } }", "edges.cdn.kind", "memory, haproxy, varnish, nginx, fastly"],
    ["edges: [varnish]", "edges", "Write a map of names"],
    ["edges: { Cdn: { kind: memory } }", "edges.Cdn", "1 to 32 of a-z"],
    ["edges: { cdn: { kind: memory, maxEntries: 0 } }", "edges.cdn.maxEntries", "from 1 to 1000000"],
    ["edges: { cdn: { kind: memory, url: x } }", "edges.cdn.url", "kind, maxEntries"],
    ["edges: { a: { kind: haproxy, maps: /m } }", "edges.a.socket", "/run/haproxy/admin.sock"],
    ["edges: { a: { kind: haproxy, socket: 'x:99999', maps: /m } }", "edges.a.socket", "127.0.0.1:9999"],
    ["edges: { a: { kind: haproxy, socket: /s, maps: maps } }", "edges.a.maps", "from the first slash"],
    ["edges: { a: { kind: haproxy, socket: /s, maps: '/m; x' } }", "edges.a.maps", "from the first slash"],
    ["edges: { a: { kind: haproxy, socket: /s, maps: /m/../x } }", "edges.a.maps", "from the first slash"],
    ["edges: { a: { kind: varnish } }", "edges.a.url", "http://127.0.0.1:6091"],
    ["edges: { a: { kind: varnish, url: 'http://x/path' } }", "edges.a.url", "http://127.0.0.1:3000"],
    ["edges: { a: { kind: varnish, url: 'http://x', token: short } }", "edges.a.token", "8 or more"],
    ["edges: { a: { kind: nginx } }", "edges.a.file", "nginx includes"],
    ["edges: { a: { kind: nginx, file: /f/ } }", "edges.a.file", "Write a path"],
    ["edges: { a: { kind: nginx, file: /f, reload: 1 } }", "edges.a.reload", "with its unit"],
    ["edges: { a: { kind: fastly, token: 12345678a } }", "edges.a.service", "the service's id"],
    ["edges: { a: { kind: fastly, service: x } }", "edges.a.token", "environment"],
    [
      "edges: { a: { kind: fastly, service: 'a/b', token: 12345678a } }",
      "edges.a.service",
      "letters and digits",
    ],
    [
      "edges: { a: { kind: fastly, service: x, token: 12345678a, shards: 3 } }",
      "edges.a.shards",
      "1, 2, 4, 8",
    ],
    [
      "edges: { a: { kind: fastly, service: x, token: 12345678a, prefix: A-b } }",
      "edges.a.prefix",
      "a letter first",
    ],
    ["edges: { a: { kind: fastly, service: x, token: 12345678a, api: ftp://x } }", "edges.a.api", "https://"],
    [
      "edges: { a: { kind: fastly, service: x, token: 12345678a, canary: x } }",
      "edges.a.canary",
      "https://www",
    ],
    ["control: { every: 1ms }", "control.every", "100ms to 10m"],
    ["control: { holdOff: soon }", "control.holdOff", "10s"],
    ["control: { spare: private }", "control.spare", "Write a list"],
    ["control: { spare: [lan] }", "control.spare[0]", "or private"],
    ["control: { spare: [0.0.0.0/0] }", "control.spare[0]", "2001:db8::/32"],
    ["control: { guard: { share: 2 } }", "control.guard.share", "from 0 to 1"],
    ["control: { track: { halfLife: 1ms } }", "control.track.halfLife", "1s to 1d"],
    ["decisionLog: true", "decisionLog", "Write false, or a map"],
    ["decisionLog: {}", "decisionLog.file", "decisions.ndjson"],
    ["decisionLog: { file: '' }", "decisionLog.file", "Write a path"],
    ["decisionLog: { file: a, which: some }", "decisionLog.which", "refused, all"],
    ["decisionLog: { file: a, maxBytes: 64mb }", "decisionLog.maxBytes", "whole number"],
    ["control: { track: { standard: 5 apples } }", "control.track.standard", "100 per hour"],
    ["control: { track: { methods: ['G T'] } }", "control.track.methods[0]", "GET"],
    ["control: { track: { holdFor: [] } }", "control.track.holdFor", "1 to 12"],
    ["customers: { source: { kind: csv } }", "customers.source.kind", "sql, http"],
    ["customers: { source: { kind: http, url: 'http://u:p@x' } }", "customers.source.url", "token"],
    [
      "customers: { source: { kind: sql, url: 'mysql://x', select: a, update: $1 } }",
      "customers.source.url",
      "postgres://",
    ],
    [
      "customers: { source: { kind: sql, url: 'file:a', select: a, update: UPDATE c SET tier = $2 } }",
      "customers.source.update",
      "the id",
    ],
    [
      "customers: { source: { kind: http, url: 'http://x', every: 1ms } }",
      "customers.source.every",
      "1s or more",
    ],
    ["store: radis", "store", "Did you mean redis?"],
    ["store: { kind: redis, url: 'http://x' }", "store.url", "redis://"],
    ["store: { kind: redis, url: 'redis://:pa%ss@x' }", "store.url", "%25"],
    ["store: redis://:pa%ss@x", "store", "%25"],
    ["store: redis://x/2147483648", "store", "redis://host:6379/1"],
    ["store: { kind: redis, url: 'redis://x/shop' }", "store.url", "redis://host:6379/1"],
    ["store: { kind: redis, prefix: 'a b' }", "store.prefix", "printable"],
    ["store: { kind: memcached, servers: ['x:y'] }", "store.servers[0]", "host:port"],
    ["store: { kind: memcached, servers: [] }", "store.servers", "servers:"],
    ["store: { kind: memory, maxKeys: 0 }", "store.maxKeys", "from 1"],
  ])("refuses %s and says what to write", (text, path, help) => {
    const found = problem(`${app}${text}\n`);
    expect(found).toMatchObject({ line: 2, path });
    expect(found.help).toContain(help);
  });

  it.each([
    ["{ url: http://a, urls: [http://b] }", "upstreams[0]", "TG_UPSTREAMS"],
    ["{ urls: [] }", "upstreams[0]", "TG_UPSTREAMS"],
    ["{ urls: [http://a, 'http://a/'] }", "upstreams[0].urls", "TG_UPSTREAMS"],
    ["{ url: http://a, path: api }", "upstreams[0].path", "TG_CONFIG_VALUE"],
    ["{ url: http://a, path: /a/../b }", "upstreams[0].path", "TG_CONFIG_VALUE"],
    ["{ url: http://a, path: /a;b }", "upstreams[0].path", "TG_CONFIG_VALUE"],
    ["{ url: http://a, host: 'a:80' }", "upstreams[0].host", "TG_CONFIG_VALUE"],
    ["{ url: http://a, health: { path: x } }", "upstreams[0].health.path", "TG_CONFIG_VALUE"],
    ["{ url: http://a }, { url: http://b }", "upstreams[1]", "TG_UPSTREAMS"],
    ["{ url: 'http://a?x' }", "upstreams[0].url", "TG_URL"],
  ])("refuses the upstream %s", (text, path, code) => {
    expect(problem(`upstreams: [${text}]\n`)).toMatchObject({ path, code, line: 1 });
  });

  it("may serve decisions alone, but must serve something", () => {
    expect(load("listen: { proxy: false }\n").settings.listen.proxy).toBeUndefined();
    expect(problem("policy: { rules: [] }\n")).toMatchObject({ path: "upstreams", code: "TG_UPSTREAMS" });
    expect(problem("listen: { proxy: false, admin: false, decide: false }\n").code).toBe("TG_LISTEN_ADDRESS");
    expect(problem(`${app}listen: { admin: 8080 }\n`).message).toBe("127.0.0.1:8080 is where proxy listens.");
  });

  it("warns of headers that are believed from nobody, and of what the library warns of, with the line", () => {
    const { warnings } = load(
      `${app}identify: { user: X-User }\npolicy:\n  rules:\n    - { name: a, by: user, limits: [1/s] }\n    - { name: b, only: /x, by: ip, limits: { slidingLog: { limit: 20000, window: 1d } } }\n`,
    );
    expect(warnings.map(({ code, line, path }) => [code, line, path])).toEqual([
      ["TG_IDENTIFY_UNTRUSTED", 2, "identify"],
      ["TG_LOG_LARGE", 6, "policy.rules[1].limits"],
      ["TG_STRANGERS_FREE", 5, "policy.rules[0]"],
    ]);
    const asked = load("listen: { proxy: false }\nidentify: { user: X-User }\n").warnings;
    expect(asked.map(({ code }) => code)).toEqual(["TG_POLICY_EMPTY"]);
  });
});

describe("who sends a request", () => {
  const login = "policy: { rules: [{ login: { only: POST /login } }] }\n";

  it.each([
    ["{ field: Email }", { field: "Email" }],
    ["X-Login-Name", "x-login-name"],
  ])("an account is named by %s, which nobody has to be trusted for", (text, account) => {
    const { settings, warnings } = load(`${app}identify: { account: ${text} }\n${login}`);
    expect(settings.identify).toEqual({ account });
    expect(warnings).toEqual([]);
  });

  it("a login whose account nobody names is warned of once, with its line and what to write", () => {
    const { warnings } = load(`${app}policy:\n  rules:\n    - login: { only: POST /login }\n`);
    expect(warnings).toMatchObject([{ code: "TG_IDENTIFY_MISSING", line: 4, path: "policy.rules[0].login" }]);
    expect(warnings[0]?.message).toContain("basic auth");
    expect(warnings[0]?.help).toContain("identify: { account: { field: email } }");
  });

  it.each(["user", "customer", "account"])("so is a rule by a %s of whom nothing tells", (fact) => {
    const rules = `[{ name: all, by: ip, limits: [1/s] }, { name: a, by: [ip, ${fact}], limits: [1/s] }]`;
    expect(load(`${app}policy: { rules: ${rules} }\n`).warnings).toMatchObject([
      { code: "TG_IDENTIFY_MISSING", line: 2, path: "policy.rules[1]" },
    ]);
  });

  it.each([
    `listen: { proxy: false }\n${login}`,
    `${app}policy: { mode: shadow, rules: [{ login: {} }] }\n`,
    `${app}policy: { mode: off, rules: [{ login: {} }] }\n`,
    `${app}policy: { rules: [{ name: a, by: [ip, user], mode: shadow, limits: [1/s] }] }\n`,
    `${app}policy: { rules: [{ name: a, by: [ip, path], limits: [1/s] }] }\n`,
  ])("but nothing that refuses nobody at the proxy: %j", (text) => {
    expect(load(text).warnings.filter(({ code }) => code === "TG_IDENTIFY_MISSING")).toEqual([]);
  });
});

describe("the store", () => {
  it.each([
    ["redis", "redis://127.0.0.1:6379"],
    ["{ kind: redis }", "redis://127.0.0.1:6379"],
    ["redis://other:1", "redis://other:1"],
    [`"\${URL}"`, "rediss://x:y@z"],
  ])("redis may be written %s", (text, url) => {
    const { store } = load(`${app}store: ${text}\n`, { env: { URL: "rediss://x:y@z" } }).settings;
    expect(store).toMatchObject({ kind: "redis", prefix: "tg", isCluster: false });
    expect(store.kind === "redis" && store.url.reveal()).toBe(url);
  });

  it("memcached has a server by default, and refuses limits it can not keep, by their line", () => {
    expect(load(`${app}store: memcached\n`).settings.store).toEqual({
      kind: "memcached",
      servers: ["127.0.0.1:11211"],
      prefix: "tg",
    });
    const rules = "[{ name: a, by: ip, limits: [1/s, { slidingLog: { limit: 1, window: 1m } }] }]";
    expect(problem(`${app}store: memcached\npolicy:\n  rules: ${rules}\n`)).toMatchObject({
      code: "TG_MEMCACHED_LEDGER",
      line: 4,
      path: "policy.rules[0].limits[1]",
    });
  });

  it("must be Redis for more than one worker, and the reason is said", () => {
    expect(problem(`${app}workers: 4\n`)).toMatchObject({ code: "TG_WORKERS_MEMORY", line: 2 });
    expect(problem(`${app}workers: 4\n`).message).toContain("up to 4 times as large");
    expect(problem(`${app}store: memcached\nworkers: 2\n`)).toMatchObject({
      code: "TG_WORKERS_MEMCACHED",
      line: 3,
    });
    expect(problem(app, { overrides: { workers: "2" } })).toMatchObject({
      code: "TG_WORKERS_MEMORY",
      path: "--workers",
    });
    expect(load(`${app}store: redis\nworkers: 4\n`).settings.workers).toBe(4);
  });
});

describe("a public bind", () => {
  it.each(["admin", "decide"])("of %s needs its token", (name) => {
    for (const host of ["0.0.0.0", '"[::]', "10.0.0.1", "example.com", '"'])
      expect(
        problem(`${app}listen:\n  ${name}: ${host}:1234${host.startsWith('"') ? '"' : ""}\n`),
      ).toMatchObject({ code: "TG_PUBLIC_BIND", line: 3, path: `listen.${name}` });
    expect(
      load(`${app}listen: { ${name}: 0.0.0.0:1 }\n${name}: { token: abcdefgh }\n`).settings,
    ).toBeTruthy();
    for (const host of ["127.0.0.9", "localhost", "[::1]"])
      expect(load(`${app}listen: { ${name}: "${host}:1234" }\n`).settings).toBeTruthy();
  });

  it("is refused of a flag too, by the flag's name", () => {
    expect(problem(app, { overrides: { listen: { admin: ":1" } } })).toMatchObject({
      code: "TG_PUBLIC_BIND",
      path: "--admin",
    });
  });
});

describe("the environment", () => {
  it("fills in any text outside of the policy, in part or with a default", () => {
    const { settings } = load(
      `upstreams: [{ url: "http://\${HOST}:\${PORT:-3000}" }]\nlisten: { admin: "\${OFF}" }\nmetrics: { offenders: "\${MANY}" }\ndecide: { canFinish: "\${YES}" }\ndata: $\${x}\n`,
      { env: { HOST: "app", PORT: "", OFF: "false", MANY: "7", YES: "true" } },
    );
    expect(settings.upstreams[0]?.urls).toEqual(["http://app:3000"]);
    expect(settings.listen.admin).toBeUndefined();
    expect([settings.metrics.offenders, settings.decide.canFinish]).toEqual([7, true]);
    expect(settings.dataDir).toBe(join(folder, `\${x}`));
  });

  it("names what is missing, at its line, and nothing of what is there", () => {
    const text = `${app}admin: { token: "\${ADMIN_TOKEN}" }\nstore: { kind: redis, url: "redis://\${USER_NAME}:\${NONE}@x" }\n`;
    const found = problems(text, { env: { USER_NAME: "topsecret" } });
    expect(found.map(({ code, line, message }) => [code, line, message])).toEqual([
      ["TG_ENV_MISSING", 2, "The environment has no ADMIN_TOKEN."],
      ["TG_ENV_MISSING", 3, "The environment has no NONE."],
    ]);
    expect(problem(`${app}data: "\${A B}"\n`).code).toBe("TG_ENV_MISSING");
    expect(problem(`${app}data: "\${A"\n`).code).toBe("TG_ENV_MISSING");
    for (const name of ["__proto__", "constructor"])
      expect(problem(`${app}data: "\${${name}}"\n`, { env: process.env }).code).toBe("TG_ENV_MISSING");
  });

  it("is never shown, whatever is wrong with it", () => {
    const names = [
      "listen: { proxy: $, admin: $, decide: $ }",
      "trustedProxies: [$]",
      "clientIpHeader: $",
      "identify: { user: $ }",
      "identity: { fingerprint: $, ipv6Prefix: $ }",
      "store: $",
      "store: { kind: redis, url: $, prefix: $ }",
      "store: { kind: $ }",
      "store: { kind: memcached, servers: [$], prefix: $ }",
      "failure: { deadline: $, onStoreFailure: $ }",
      "decide: { peers: [$], token: $, canFinish: $, hosts: [$] }",
      "proxy: { headersTimeout: $, connections: $ }",
      "responses: { headers: $, status: $ }",
      "customers: { source: { kind: sql, url: $, select: $, update: $, every: $ } }",
      "customers: { source: { kind: http, url: $, token: $ } }",
      "control: { track: { standard: $, methods: [$], holdFor: $ } }",
      "control: { every: $, holdOff: $, spare: [$], guard: { share: $, newPerMinute: $ } }",
      "control: { track: { halfLife: $ } }",
      "decisionLog: { file: a, which: $, maxBytes: $, files: $ }",
      "edges: { x: { kind: $ } }",
      "edges: { x: { kind: haproxy, socket: $, maps: $, keepsFiles: $, maxEntries: $ } }",
      "edges: { x: { kind: varnish, url: $, token: $ } }",
      "edges: { x: { kind: nginx, file: /f, reload: $ } }",
      "edges: { x: { kind: fastly, service: $, token: $, prefix: $, shards: $, api: $, canary: $ } }",
      "logs: { level: $ }",
      "workers: $",
      "drain: $",
    ];
    for (const name of names) {
      const text = `upstreams: [{ url: "\${V}" , host: "\${V}", path: "\${V}", name: "\${V}" }]\n${name.replaceAll("$", `"\${V}"`)}\n`;
      for (const secret of ["hunter two", "hunter two:99999999"]) {
        const error = failure(() => load(text, { env: { V: secret } }));
        expect(inspect(error, { depth: 9 }) + JSON.stringify(error.problems), name).not.toContain("hunter");
      }
    }
  });

  it("has no say in a policy", () => {
    const text = `${app}policy:\n  rules:\n    - { name: "\${A}", by: ip, limits: [1/s] }\n  tiers: { "\${B}": [1/s] }\n`;
    expect(problems(text, { env: { A: "a", B: "b" } }).map(({ code, line }) => [code, line])).toEqual([
      ["TG_ENV_IN_POLICY", 4],
      ["TG_ENV_IN_POLICY", 5],
    ]);
  });

  it("gives secrets that nothing prints", () => {
    const { settings } = load(
      `${app}admin: { token: "\${T}" }\ndecide: { token: "\${T}" }\nstore: { kind: redis, url: "redis://:\${T}@x" }\ncustomers: { source: { kind: sql, url: "postgres://u:\${T}@x/y", select: a, update: $1 } }\n`,
      { env: { T: "hunter2hunter2" } },
    );
    expect(inspect(settings, { depth: 9 }) + JSON.stringify(settings)).not.toContain("hunter2");
    expect(settings.admin.token).toBeInstanceOf(Secret);
  });

  it.each(["", "short", "with blanks in it", "ünïcödé-token", "a".repeat(2000)])(
    "gives no token %j",
    (token) => {
      expect(problem(`${app}admin: { token: "\${T}" }\n`, { env: { T: token } }).code).toBe("TG_TOKEN");
    },
  );

  it.each([
    "admin: { token: S3CRETPW, hosts: [a b] }",
    "store: redis://:S3CRETPW@x:1:2",
    'store: { kind: redis, url: "redis:/user:S3CRETPW@h" }',
    'customers: { source: { kind: http, url: "http://h/x?api_key=S3CRETPW", evry: 1m } }',
    "decide:\n  token: [abcdefgh, S3CRETPW]",
    "admin: { token: abc,S3CRETPW bad }",
    "admin: { token: abc,S3CRETPW }",
    "admin:\n  tokn: S3CRETPW",
    "admin:\n  token: S3CRETPW\n bad: 1",
    "edges: { cdn: { kind: fastly, service: x, tokens: S3CRETPW } }",
    "bogus: { token: S3CRETPW }",
    "bogus: http:/u:S3CRETPW@h/",
    "bogus: http://h/?key=S3CRETPW",
  ])("what may be a secret is not repeated with what is wrong: %j", (lines) => {
    for (const text of [`${app}${lines}\n`, `${app}${lines}\n`.replaceAll(/^/gm, "  ")])
      expect(failure(() => load(text)).message).not.toContain("S3CRETPW");
  });

  it("secrets in lines that are shown are starred", () => {
    const error = failure(() => load(`${app}logs: { token: hunter2hunter2, level: loud }\n`));
    expect(error.message).toContain("logs: { token: **************, level: loud }");
  });
});

describe("flags", () => {
  it("win over the file", () => {
    const { settings } = load(
      `${app}store: { kind: redis, url: redis://file:1, prefix: mine }\nlogs: { level: warn }\n`,
      {
        overrides: {
          listen: { proxy: "0.0.0.0:1", admin: "false", decide: false },
          redis: "redis://flag:1",
          dataDir: "elsewhere",
          workers: 3,
          upstream: "http://127.0.0.1:9",
          logLevel: "debug",
        },
      },
    );
    expect(settings.listen).toEqual({ proxy: { host: "0.0.0.0", port: 1 } });
    expect(settings.store).toMatchObject({ kind: "redis", prefix: "mine" });
    expect(settings.store.kind === "redis" && settings.store.url.reveal()).toBe("redis://flag:1");
    expect(settings.upstreams).toEqual([
      { name: "default", urls: ["http://127.0.0.1:9"], hosts: [], path: "/" },
    ]);
    expect([settings.workers, settings.logs.level, settings.dataDir]).toEqual([
      3,
      "debug",
      join(folder, "elsewhere"),
    ]);
  });

  it.each([
    [{ listen: { proxy: "x" } }, "--listen"],
    [{ listen: { admin: "x:y" } }, "--admin"],
    [{ listen: { decide: "1.2.3.4:99999" } }, "--decide"],
    [{ redis: "http://hunter2@x" }, "--redis"],
    [{ upstream: "http://hunter2:x@y" }, "--upstream"],
    [{ dataDir: "" }, "--data"],
    [{ workers: "1e3" }, "--workers"],
    [{ workers: "many" }, "--workers"],
    [{ logLevel: "loud" }, "--log-level"],
  ])("%j is refused by its flag", (overrides, flag) => {
    const found = problem(app, { overrides });
    expect(found).toMatchObject({ code: "TG_FLAG", path: flag });
    expect(found.line).toBeUndefined();
    expect(found.message).toContain(flag);
    expect(found.message).not.toContain("hunter2");
  });
});

describe("the demo", () => {
  it("is what there is without a file: 100 a minute by address, nobody spared", () => {
    const loaded = loadConfig({ cwd: folder, env: {} });
    expect(loaded.settings).toMatchObject({
      isDemo: true,
      upstreams: [{ name: "demo", urls: [], hosts: [], path: "/" }],
      decide: { peers: ["loopback"], canFinish: true },
      dataDir: join(folder, "tidegate-data"),
      store: { kind: "memory" },
    });
    expect(loaded.file).toBeUndefined();
    expect(loaded.warnings).toEqual([]);
    expect(parsePolicy(loaded.policyText)).toEqual({
      rules: [{ name: "demo", by: "ip", limits: ["100 per minute"] }],
    });
    expect(loaded.policyText).toMatch(/^# The demo/);
  });

  it("takes flags; with an upstream of its own it needs no app of ours", () => {
    expect(demoConfig({ redis: "redis://x:1" }).settings).toMatchObject({
      isDemo: true,
      store: { kind: "redis" },
    });
    expect(demoConfig({ upstream: "http://127.0.0.1:9" }).settings).toMatchObject({
      isDemo: false,
      upstreams: [{ urls: ["http://127.0.0.1:9"] }],
    });
    expect(problemsOf(failure(() => demoConfig({ workers: 2 })))).toMatchObject([
      { code: "TG_WORKERS_MEMORY" },
    ]);
  });
});

describe("rules that look at the answer", () => {
  const rules =
    "policy:\n  rules:\n    - { name: a, by: ip, limits: [1/s] }\n    - { name: b, by: ip, limits: [1/s], count: failures }\n";

  it("are refused, by their line, where callers of the decision service do not tell it", () => {
    const found = problem(`${app + rules}decide: { peers: [127.0.0.1] }\n`);
    expect(found).toMatchObject({ code: "TG_RULE_FINISH", line: 5, path: "policy.rules[1]" });
    expect(found.help).toContain("decide.canFinish: true");
  });

  it("are taken where they do, where no caller is declared, or where there is no decision service", () => {
    const callers = "decide: { peers: [127.0.0.1], token: 12345678x";
    expect(load(`${app}${rules}${callers}, canFinish: true }\n`).warnings).toEqual([]);
    expect(load(`${app}${rules}${callers} }\nlisten: { decide: false }\n`).warnings).toEqual([]);
    expect(load(app + rules).warnings).toEqual([]);
  });
});

describe("tracking for the edges", () => {
  it("is off, on with edges, and as the file says", () => {
    const track = (text: string) => load(app + text).settings.control.track;
    expect(track("")).toBeUndefined();
    expect(track("edges: { a: { kind: memory } }\n")).toEqual({
      methods: [],
      standard: "60 per minute",
      broad: "120 per minute",
      halfLifeMs: 30_000,
      holdFor: [60_000, 300_000, 3_600_000],
    });
    expect(track("edges: { a: { kind: memory } }\ncontrol: { track: false }\n")).toBeUndefined();
    expect(track("control: { track: true }\n")?.standard).toBe("60 per minute");
    expect(track("control: { track: {} }\n")?.broad).toBe("120 per minute");
  });
});

describe("what can not be read", () => {
  it("a missing file, a folder and a device are refused, and a link is followed", () => {
    const code = (file: string) => problemsOf(failure(() => loadConfig({ file, env: {} })))[0]?.code;
    mkdirSync(join(folder, "sub"), { recursive: true });
    expect(code(join(folder, "none.yaml"))).toBe("TG_CONFIG_READ");
    expect(code(join(folder, "sub"))).toBe("TG_CONFIG_READ");
    expect(code("/dev/zero")).toBe("TG_CONFIG_READ");
    fileOf(app);
    symlinkSync(join(folder, "tidegate.yaml"), join(folder, "link.yaml"));
    expect(loadConfig({ file: join(folder, "link.yaml"), env: {} }).settings.workers).toBe(1);
  });

  it("is no configuration's problem when it is another error", () => {
    expect(() => problemsOf(new TypeError("other"))).toThrow("other");
  });
});

describe("a file read again", () => {
  const start = (text: string) => loadConfig({ file: fileOf(text), env: {}, cwd: folder });

  it("is what it says by then, on the terms it was first read on", () => {
    const env: NodeJS.ProcessEnv = { TOKEN: "first-token" };
    const settings = `${app}admin: { token: "\${TOKEN}" }\nworkers: 2\n`;
    const first = loadConfig({
      file: fileOf(`${settings}policy: { rules: [] }\n`),
      env,
      cwd: folder,
      overrides: { redis: "redis://127.0.0.1:1", dataDir: "elsewhere" },
    });
    fileOf(`${settings}policy:\n  # why\n  rules:\n    - { name: a, by: ip, limits: [1/s] }\n`);
    const again = first.again?.();
    expect(again?.policyText).toBe("# why\nrules:\n  - { name: a, by: ip, limits: [1/s] }\n");
    expect(again?.settings).toEqual(first.settings);
    expect(again?.settings.dataDir).toBe(join(folder, "elsewhere"));
    env.TOKEN = "second-token";
    expect(first.again?.().settings.admin.token?.reveal()).toBe("second-token");
    delete env.TOKEN;
    expect(problemsOf(failure(() => first.again?.()))).toMatchObject([
      { code: "TG_ENV_MISSING", line: 2, path: "admin.token" },
    ]);
  });

  it("is refused as at the start: settings and policy, by the file's lines", () => {
    const first = start(app);
    fileOf(`${app}workers: 2\npolicy:\n  rules:\n    - { name: a, by: x, limits: [1/s] }\n`);
    expect(problemsOf(failure(() => first.again?.()))).toMatchObject([
      { code: "TG_WORKERS_MEMORY", line: 2, path: "workers" },
      { code: "TG_BY", line: 5, path: "policy.rules[0].by" },
    ]);
  });

  it("can be told of without a line of it", () => {
    const first = start(app);
    fileOf(`${app}logs: { tokn: s3cr3t-text }\n`);
    const error = failure(() => first.again?.()) as ConfigFileError;
    expect(error.message).toContain("s3cr3t-text");
    expect(error.withoutLines().message).not.toContain("s3cr3t-text");
    expect(error.withoutLines()).toMatchObject({
      code: error.code,
      file: error.file,
      problems: error.problems,
    });
  });
});
