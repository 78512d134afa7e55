import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { startMemcached, startRedis } from "../servers/index.js";
import {
  commands,
  configFile,
  eventually,
  type Running,
  runTidegate,
  startTidegate,
  statuses,
  tally,
  temporaryFolder,
} from "./running.js";

/** An app behind the proxy; `delayMs` before it answers. */
async function upstream(delayMs = 0, onAsked = () => {}): Promise<string> {
  const server = createServer((req, res) => {
    onAsked();
    setTimeout(() => res.end(`asked for ${req.url}`), delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const policyOf = (limit: string) => `policy:
  rules:
    - { name: req/ip, by: ip, limits: [${limit}] }
`;

async function json(url: string, init?: RequestInit): Promise<Record<string, unknown>> {
  return (await fetch(url, init)).json() as Promise<Record<string, unknown>>;
}

/** Asks nothing but how it is. */
const untilBack = (admin: string) =>
  eventually(async () => {
    const { store } = (await json(`${admin}/v1/status`)) as { store: { isDegraded: boolean } };
    return store.isDegraded ? undefined : true;
  });

describe("the command", () => {
  test("says what to run where nothing is built yet", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "bin"));
    const command = join(folder, "bin/tidegate.mjs");
    copyFileSync(commands.installed, command);
    const { code, stderr } = await runTidegate(["--version"], { folder, command });
    expect(code).toBe(1);
    expect(stderr).toContain("npm run build");
  });
});

describe("without a file", () => {
  test("a demo starts on the embedded default: it says where it is, refuses at 100 a minute, and stops when told", async () => {
    const folder = temporaryFolder();
    const running = await startTidegate({ folder });
    await eventually(() => running.output().includes(`curl -i ${running.proxy}/`) || undefined);
    const answers = tally(await statuses(101, `${running.proxy}/`));
    // A minute may end meanwhile.
    expect(answers[200]).toBeGreaterThanOrEqual(100);
    const refused = await eventually(async () => {
      const response = await fetch(`${running.proxy}/`);
      return response.status === 429 ? response : undefined;
    });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ status: 429, rule: expect.any(String) });
    expect(existsSync(join(folder, "tidegate-data"))).toBe(true);
    expect(await running.stop()).toBe(0);
  });

  test("the demo's decision service believes callers on loopback", async () => {
    const running = await startTidegate({ folder: temporaryFolder() });
    const body = (ip: string) =>
      JSON.stringify({ subject: { ip, method: "GET", host: "example.com", path: "/" } });
    const decide = (ip: string) => json(`${running.decide}/v1/decide`, { method: "POST", body: body(ip) });
    for (let i = 0; i < 100; i++) await decide("203.0.113.9");
    expect(
      await eventually(async () => ((await decide("203.0.113.9")).allowed === false ? true : undefined)),
    ).toBe(true);
    expect(await decide("203.0.113.10")).toMatchObject({ allowed: true });
  });
});

describe("one file", () => {
  test("is taken in when it changes; a bad one is refused, the old policy stays, and everyone can see it", async () => {
    const folder = temporaryFolder();
    const head = `upstreams: [{ url: ${await upstream()} }]\n`;
    const file = configFile(folder, head + policyOf("3 per hour"));
    const running = await startTidegate({ folder });
    expect(await statuses(4, `${running.proxy}/`)).toEqual([200, 200, 200, 429]);

    writeFileSync(file, head + policyOf("5 per hour"));
    await eventually(async () => ((await fetch(`${running.proxy}/`)).status === 200 ? true : undefined));

    writeFileSync(file, head + policyOf("5 per fortnight"));
    const refused = await eventually(async () => {
      const status = await json(`${running.admin}/v1/status`);
      const { file: state } = status.policy as { file: { state: string; problem?: string } };
      return state.state === "refused" ? state : undefined;
    });
    expect(refused.problem).toContain("fortnight");
    expect(tally(await statuses(3, `${running.proxy}/`))).toEqual({ 200: 1, 429: 2 });
  });

  test("an upstream that is down is named by /ready, and the status says where everything listens", async () => {
    const folder = temporaryFolder();
    configFile(
      folder,
      `upstreams:\n  - { name: shop, url: "http://127.0.0.1:1", health: { path: /, every: 50ms, timeout: 1s, failures: 1 } }\n${policyOf("5 per hour")}`,
    );
    const running = await startTidegate({ folder });
    await eventually(async () => {
      const { reasons } = (await json(`${running.admin}/ready`)) as { reasons: string[] };
      return reasons.includes('No origin of the upstream "shop" is healthy.') || undefined;
    });
    const { proxy, decide, admin } = running;
    expect(await json(`${admin}/v1/status`)).toMatchObject({ listeners: { proxy, decide, admin } });
  });

  test("gone, leaves its policy in the data: a start without it says that this one rules, and not the demo's", async () => {
    const folder = temporaryFolder();
    const byCustomer = "policy: { rules: [{ name: api, by: customer, limits: [3 per hour] }] }\n";
    const file = configFile(folder, `upstreams: [{ url: ${await upstream()} }]\n${byCustomer}`);
    const running = await startTidegate({ folder });
    expect(running.lines().filter(({ code }) => code === "TG_STRANGERS_FREE")).toHaveLength(1);
    await running.stop();
    rmSync(file);
    const next = await startTidegate({ folder });
    await eventually(() => next.output().includes("Ctrl-C") || undefined);
    expect(next.output()).toContain("its data has a policy, version 1 by file, and that one rules");
    expect(next.output()).not.toContain("100 requests a minute");
    expect(
      next.lines().some(({ level, msg }) => level === "warn" && /not the demo's/.test(String(msg))),
    ).toBe(true);
  });

  test("SIGHUP reads it again", async () => {
    const folder = temporaryFolder();
    const head = `upstreams: [{ url: ${await upstream()} }]\n`;
    const file = configFile(folder, head + policyOf("1 per hour"));
    const running = await startTidegate({ folder });
    expect(await statuses(2, `${running.proxy}/`)).toEqual([200, 429]);
    writeFileSync(file, head + policyOf("4 per hour"));
    running.signal("SIGHUP");
    await eventually(async () => ((await fetch(`${running.proxy}/`)).status === 200 ? true : undefined));
  });

  test("`tidegate policy rollback` brings the version before back, and that survives a restart", async () => {
    const folder = temporaryFolder();
    const head = `upstreams: [{ url: ${await upstream()} }]\n`;
    const file = configFile(folder, head + policyOf("2 per hour"));
    const running = await startTidegate({ folder });
    writeFileSync(file, head + policyOf("4 per hour"));
    const versionOf = async ({ admin }: Running) =>
      ((await json(`${admin}/v1/status`)).policy as { version: number }).version;
    await eventually(async () => ((await versionOf(running)) === 2 ? true : undefined));
    const rolled = await runTidegate(["policy", "rollback", "--yes", "--url", running.admin], { folder });
    expect(rolled).toMatchObject({ code: 0 });
    expect(await statuses(3, `${running.proxy}/`)).toEqual([200, 200, 429]);
    await running.stop();

    const again = await startTidegate({ folder });
    expect(await versionOf(again)).toBe(3);
    expect(await statuses(3, `${again.proxy}/`)).toEqual([200, 200, 429]);
    const { file: state } = (await json(`${again.admin}/v1/status`)).policy as { file: { state: string } };
    expect(state.state).toBe("behind");
  });

  test("with a mistake at the first start is told with line, path and fix, and nothing starts", async () => {
    const folder = temporaryFolder();
    configFile(
      folder,
      `upstreams: [{ url: http://127.0.0.1:1 }]\npolicy:\n  rules:\n    - { name: a, by: ipp, limits: [5 per hour] }\n`,
    );
    const { code, stderr } = await runTidegate(["start"], { folder });
    expect(code).toBe(2);
    expect(stderr).toContain("tidegate.yaml:4:");
    expect(stderr).toContain("policy.rules[0].by");
  });

  test("may not open a public door without a token", async () => {
    const folder = temporaryFolder();
    configFile(
      folder,
      `upstreams: [{ url: http://127.0.0.1:1 }]\nlisten: { admin: 0.0.0.0:0 }\n${policyOf("5 per hour")}`,
    );
    const { code, stderr } = await runTidegate(["start"], { folder });
    expect(code).toBe(2);
    expect(stderr).toContain("admin.token");
  });

  test("its secrets are never shown", async () => {
    const folder = temporaryFolder();
    const secret = "s3cr3t-of-this-test";
    const rules = policyOf("500 per hour");
    configFile(
      folder,
      `upstreams: [{ url: ${await upstream()} }]\nadmin: { token: "\${ADMIN_TOKEN}" }\nlogs: { level: trace }\n${rules}`,
    );
    const running = await startTidegate({ folder, env: { ADMIN_TOKEN: secret } });
    expect((await fetch(`${running.admin}/v1/status`)).status).toBe(401);
    const headers = { authorization: `Bearer ${secret}` };
    const answers = await Promise.all(
      ["v1/status", "v1/policy", "v1/audit", "metrics"].map(async (path) =>
        (await fetch(`${running.admin}/${path}`, { headers })).text(),
      ),
    );
    await fetch(running.proxy, { headers });
    await running.stop();
    expect(`${answers.join()}${running.output()}`).not.toContain(secret);
  });
});

describe("the data directory", () => {
  test("has one writer: a second process is told, and the first goes on", async () => {
    const folder = temporaryFolder();
    const running = await startTidegate({ folder });
    const { code, stderr } = await runTidegate(
      ["start", "--listen", "127.0.0.1:0", "--admin", "false", "--decide", "false"],
      { folder },
    );
    expect(code).toBe(1);
    expect(stderr).toContain("TG_DATA_LOCKED");
    expect((await fetch(running.proxy)).status).toBe(200);
  });

  test("keeps lists across kill -9", async () => {
    const folder = temporaryFolder();
    const running = await startTidegate({ folder });
    await fetch(`${running.admin}/v1/lists/blocklist/127.0.0.1`, {
      method: "PUT",
      body: JSON.stringify({ why: "a test", force: true }),
    });
    expect((await fetch(running.proxy)).status).toBe(403);
    running.signal("SIGKILL");
    await running.ended();
    const again = await startTidegate({ folder });
    expect((await fetch(again.proxy)).status).toBe(403);
  });
});

describe("shutting down", () => {
  test("lets what is under way end, and takes nothing new", async () => {
    const folder = temporaryFolder();
    let isUnderWay = false;
    const app = await upstream(500, () => {
      isUnderWay = true;
    });
    configFile(folder, `upstreams: [{ url: ${app} }]\n${policyOf("5 per hour")}`);
    const running = await startTidegate({ folder });
    const slow = fetch(`${running.proxy}/slow`).then((response) => response.text());
    await eventually(() => isUnderWay || undefined);
    running.signal("SIGTERM");
    await eventually(() =>
      fetch(running.proxy, { headers: { connection: "close" } }).then(
        () => undefined,
        () => true,
      ),
    );
    expect(await slow).toBe("asked for /slow");
    expect(await running.ended()).toBe(0);
  });
});

describe("on Redis", () => {
  const url = () => `redis://127.0.0.1:${inject("redisPort")}`;
  const prefix = () => `t${crypto.randomUUID().slice(0, 8)}`;
  const settings = async (name: string, more = "") =>
    `upstreams: [{ url: ${await upstream()} }]\nstore: { kind: redis, url: "${url()}", prefix: ${name} }\n${more}`;

  test("two servers count together, and share lists and policy versions", async () => {
    const name = prefix();
    const text = (await settings(name, "failure: { deadline: 10s }\n")) + policyOf("4 per hour");
    const folders = [temporaryFolder(), temporaryFolder()] as const;
    for (const folder of folders) configFile(folder, text);
    const first = await startTidegate({ folder: folders[0] });
    const second = await startTidegate({ folder: folders[1] });
    expect(await statuses(2, first.proxy)).toEqual([200, 200]);
    expect(await statuses(3, second.proxy)).toEqual([200, 200, 429]);
    await fetch(`${first.admin}/v1/lists/safelist/127.0.0.1`, { method: "PUT", body: "{}" });
    await eventually(async () => ((await fetch(second.proxy)).status === 200 ? true : undefined));
  });

  test("workers share counts exactly; one that dies is replaced; their metrics are one page", async () => {
    const folder = temporaryFolder();
    configFile(
      folder,
      (await settings(prefix(), "workers: 2\nfailure: { deadline: 10s }\n")) + policyOf("50 per hour"),
    );
    const running = await startTidegate({ folder });
    const answers = await Promise.all(
      Array.from({ length: 80 }, () =>
        fetch(running.proxy, { headers: { connection: "close" } }).then(({ status }) => status),
      ),
    );
    expect(tally(answers)).toEqual({ 200: 50, 429: 30 });
    const metrics = await (await fetch(`${running.admin}/metrics`)).text();
    expect(metrics).toMatch(/tidegate_decisions_by_reason_total\{[^}]*over-limit[^}]*\} 30/);

    const children = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, "utf8");
    const workers = children.trim().split(" ").map(Number);
    expect(workers).toHaveLength(2);
    process.kill(workers[0] as number, "SIGKILL");
    await eventually(() => running.lines().find(({ msg }) => String(msg).startsWith("a worker ended")));
    await eventually(async () => ((await fetch(`${running.admin}/ready`)).status === 200 ? true : undefined));
    expect(await running.stop()).toBe(0);
  });

  test("a worker that takes another's place is like it, whatever the file says by then", async () => {
    const folder = temporaryFolder();
    const text =
      (await settings(prefix(), "workers: 2\nfailure: { deadline: 10s }\n")) + policyOf("5 per hour");
    const file = configFile(folder, text);
    const running = await startTidegate({ folder });
    const isReady = async () => ((await fetch(`${running.admin}/ready`)).status === 200 ? true : undefined);
    const replaced = () =>
      running.lines().filter(({ msg }) => String(msg).startsWith("a worker ended")).length;
    const children = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, "utf8");
    const [first, second] = children.trim().split(" ").map(Number) as [number, number];
    for (const [worker, changed, times] of [
      [first, `${text}bogus: 1\n`, 1],
      [second, `responses: { status: 503 }\n${text}`, 2],
    ] as const) {
      writeFileSync(file, changed);
      process.kill(worker, "SIGKILL");
      await eventually(() => replaced() === times || undefined);
      await eventually(isReady);
    }
    const headers = { connection: "close" };
    expect(await statuses(6, running.proxy, { headers })).toEqual([200, 200, 200, 200, 200, 429]);
    expect(replaced()).toBe(2);
  });

  test("whichever worker is told the end of a request, the one that decided hears of it", async () => {
    const folder = temporaryFolder();
    const rule = "policy:\n  rules: [{ name: login, by: ip, limits: [2 per hour], count: failures }]\n";
    const more = "workers: 2\nfailure: { deadline: 10s }\ndecide: { peers: [127.0.0.1], canFinish: true }\n";
    configFile(folder, (await settings(prefix(), more)) + rule);
    const running = await startTidegate({ folder, command: commands.npmStart });
    const ask = (path: string, body: object) =>
      json(`${running.decide}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { connection: "close" },
      });
    // Successes do not count: twelve pass where two failures would fill it, as long as every end is heard.
    for (let i = 0; i < 12; i++) {
      const decision = await ask("/v1/decide", { subject: { ip: "203.0.113.7", path: "/login" } });
      expect(decision).toMatchObject({ allowed: true, finish: expect.any(String) });
      expect(await ask("/v1/finish", { id: decision.finish, status: 200 })).toMatchObject({ finished: 1 });
    }
    expect(await ask("/v1/finish", { id: "nobody's", status: 200 })).toMatchObject({
      code: "TG_DECISION_UNKNOWN",
    });
  });

  test("a proxied client is tracked by its fingerprint: ten requests are a count of ten", async () => {
    const folder = temporaryFolder();
    const name = prefix();
    configFile(
      folder,
      (await settings(name, "control: { track: {} }\nfailure: { deadline: 10s }\n")) +
        policyOf("500 per hour"),
    );
    const running = await startTidegate({ folder });
    await statuses(10, `${running.proxy}/tracked`);
    const redis = await createClient({ url: url() }).connect();
    onTestFinished(() => redis.destroy());
    const keys = await eventually(async () => {
      const found = await redis.keys(`${name}:*edge/standard`);
      return found.length === 1 ? found : undefined;
    });
    expect(keys[0]).toMatch(/\{[0-9a-f]{64}\}/);
    expect(await (await fetch(`${running.admin}/metrics`)).text()).toContain(
      'tidegate_tracked_total{outcome="counted"} 10',
    );
  });

  test("goes on when Redis hangs, says so, and comes back by itself, though no request comes", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    configFile(
      folder,
      `upstreams: [{ url: ${await upstream()} }]\nstore: { kind: redis, url: "${redis.url}" }\nfailure: { deadline: 100ms }\n${policyOf("500 per hour")}`,
    );
    const running = await startTidegate({ folder });
    expect(await statuses(3, running.proxy)).toEqual([200, 200, 200]);
    redis.freeze();
    expect(tally(await statuses(20, running.proxy))).toEqual({ 200: 20 });
    expect(await json(`${running.admin}/v1/status`)).toMatchObject({ store: { isDegraded: true } });
    redis.thaw();
    await untilBack(running.admin);
    expect(running.lines()).toContainEqual(
      expect.objectContaining({ level: "info", msg: "the store is back" }),
    );
    expect(await (await fetch(`${running.admin}/metrics`)).text()).toMatch(/^tidegate_degraded 0$/m);
  });
});

describe("while Redis is down", () => {
  const onRedis = async (url: string, more = "") =>
    `upstreams: [{ url: ${await upstream()} }]\nstore: { kind: redis, url: "${url}" }\n${more}${policyOf("500 per hour")}`;

  test("a start goes on without it, is ready, and has it when it comes", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    await redis.kill();
    const folder = temporaryFolder();
    configFile(folder, `${await onRedis(redis.url)}  blocklist: [127.0.0.0/8]\n`);
    const running = await startTidegate({ folder });
    expect(await json(`${running.admin}/ready`)).toEqual({ status: "ready", reasons: [] });
    expect((await fetch(running.proxy)).status).toBe(403);
    expect(await json(`${running.admin}/v1/policy`)).toMatchObject({
      version: null,
      status: { version: 0, problem: expect.stringContaining("it is not stored") },
    });
    await redis.restart();
    await eventually(async () => {
      const { version } = await json(`${running.admin}/v1/policy`);
      return version ?? undefined;
    });
  });

  test("a start with a wrong password ends with the reason, and does not show it", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const admin = await createClient({ url: redis.url }).connect();
    await admin.sendCommand(["CONFIG", "SET", "requirepass", "right"]);
    admin.destroy();
    const url = redis.url.replace("redis://", "redis://:hunter2hunter2@");
    const { code, stdout, stderr } = await runTidegate(["start", "--redis", url], {
      folder: temporaryFolder(),
    });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("TG_REDIS_CONNECT");
    expect(stdout + stderr).not.toContain("hunter2");
  });

  test("a start with a database it does not have ends with the reason", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const { code, stdout, stderr } = await runTidegate(["start", "--redis", `${redis.url}/99`], {
      folder: temporaryFolder(),
    });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("TG_REDIS_CONNECT");
    expect(stdout + stderr).toContain("DB index is out of range");
  });

  test("a start with a password it does not ask for ends with the reason, and does not show it", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const url = redis.url.replace("redis://", "redis://:hunter2hunter2@");
    const { code, stdout, stderr } = await runTidegate(["start", "--redis", url], {
      folder: temporaryFolder(),
    });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("TG_REDIS_CONNECT");
    expect(stdout + stderr).toContain("without any password");
    expect(stdout + stderr).not.toContain("hunter2");
  });

  test("what people ask of its data is answered 503 with a code, not as our fault", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    configFile(folder, `${await onRedis(redis.url)}  tiers: { free: [1 per hour], pro: [2 per hour] }\n`);
    const running = await startTidegate({ folder });
    await redis.kill();
    const asks = [
      ["GET", "v1/lists/blocklist"],
      ["PUT", "v1/lists/blocklist/203.0.113.7", "{}"],
      ["DELETE", "v1/lists/blocklist/203.0.113.7"],
      ["GET", "v1/customers/acme"],
      ["PUT", "v1/customers/acme/tier", '{"tier":"pro"}'],
      ["PUT", "v1/customers/acme/limits", '{"limits":{"60":5}}'],
      ["GET", "v1/audit"],
      ["GET", "v1/policy/versions"],
    ] as const;
    for (const [method, path, body] of asks) {
      const answer = await fetch(`${running.admin}/${path}`, { method, ...(body && { body }) });
      expect([path, answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
        path,
        503,
        "TG_DATA_UNREACHABLE",
      ]);
    }
  });

  test("the status of workers is theirs: degraded, counts, the busiest clients", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    configFile(folder, await onRedis(redis.url, "workers: 2\nfailure: { deadline: 100ms }\n"));
    const running = await startTidegate({ folder });
    const headers = { connection: "close" };
    await statuses(6, running.proxy, { headers });
    expect(await json(`${running.admin}/v1/status`)).toMatchObject({
      metrics: { decisions: 6 },
      store: { isDegraded: false },
    });
    const { clients } = (await json(`${running.admin}/v1/busiest`)) as { clients: { count: number }[] };
    expect(clients).toHaveLength(1);
    expect(clients[0]?.count).toBeCloseTo(6, 0);
    await redis.kill();
    await eventually(async () => {
      await statuses(4, running.proxy, { headers });
      const { store } = (await json(`${running.admin}/v1/status`)) as { store: { isDegraded: boolean } };
      return store.isDegraded || undefined;
    });
  });
});

describe("stores by name", () => {
  test("memcached counts", async () => {
    const folder = temporaryFolder();
    const name = `t${crypto.randomUUID().slice(0, 8)}`;
    configFile(
      folder,
      `upstreams: [{ url: ${await upstream()} }]\nstore: { kind: memcached, servers: ["127.0.0.1:${inject("memcachedPort")}"], prefix: ${name} }\nfailure: { deadline: 10s }\n${policyOf("2 per hour")}`,
    );
    const running = await startTidegate({ folder });
    expect(await statuses(3, running.proxy)).toEqual([200, 200, 429]);
  });

  test("a memcached that hung is known to be back though no request comes", async () => {
    const memcached = await startMemcached();
    onTestFinished(() => memcached.stop());
    const folder = temporaryFolder();
    configFile(
      folder,
      `upstreams: [{ url: ${await upstream()} }]\nstore: { kind: memcached, servers: ["127.0.0.1:${memcached.port}"] }\nfailure: { deadline: 100ms }\n${policyOf("500 per hour")}`,
    );
    const running = await startTidegate({ folder });
    memcached.freeze();
    expect(tally(await statuses(20, running.proxy))).toEqual({ 200: 20 });
    expect(await json(`${running.admin}/v1/status`)).toMatchObject({ store: { isDegraded: true } });
    memcached.thaw();
    await untilBack(running.admin);
  });

  test("more than one worker on the embedded default is refused with the reason", async () => {
    const { code, stderr } = await runTidegate(["start", "--workers", "2"], { folder: temporaryFolder() });
    expect(code).toBe(2);
    expect(stderr).toContain("TG_WORKERS");
    expect(stderr).toMatch(/redis/i);
  });
});
