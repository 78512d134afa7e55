import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import type { DecisionAnswer } from "../../packages/tidegate-server/src/api/types.js";
import { loadConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import { startServer } from "../../packages/tidegate-server/src/server.js";
import { adminRig, tidegate as run } from "./cli-rig.js";
import { configFile, startTidegate, temporaryFolder } from "./running.js";

const esc = "\u001b";

async function upstream(): Promise<string> {
  const server = createServer((_, res) => res.end("app"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A whole server in this process, with the demo's settings but this policy. */
async function serve(policy: string) {
  const folder = temporaryFolder();
  const file = configFile(
    folder,
    `listen: { proxy: 0, admin: 0, decide: 0 }
upstreams: [{ url: ${await upstream()} }]
trustedProxies: [127.0.0.1]
decide: { peers: [127.0.0.1] }
policy:
${policy}`,
  );
  const loaded = loadConfig({ file, env: {}, cwd: folder });
  const { urls } = await startServer(loaded, { log: openLog({ level: "silent" }) }).then((server) => {
    onTestFinished(() => server.close());
    return server;
  });
  return {
    urls,
    async visit(path: string, headers: Record<string, string> = {}) {
      const response = await fetch(`${urls.proxy}${path}`, {
        headers: { "x-forwarded-for": "203.0.113.7", "user-agent": `evil${headers.agent ?? ""}`, ...headers },
      });
      const body = await response.text();
      return { status: response.status, body, id: response.headers.get("tidegate-decision") ?? "" };
    },
    why: (...args: string[]) => run(["why", ...args, "--url", urls.admin as string]),
  };
}

it("why, of an address alone, is about the request it was last refused for, and says so", async () => {
  const { visit, why } = await serve(
    '  rules:\n    - { name: pages, except: /files, by: [ip, "header:user-agent"], limits: [1 per hour] }\n',
  );
  await visit("/");
  expect((await visit("/shop?q=hunter2")).status).toBe(429);
  const { code, stdout } = await why("203.0.113.7");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^As its last refused request, .*: GET 127\.0\.0\.1:\d+\/shop from 203\.0\.113\.7, user agent "evil"\nGET \/shop from 203\.0\.113\.7 is refused\./,
  );
  const plain = await why("203.0.113.7", "--path", "/");
  expect(plain.code).toBe(0);
  expect(plain.stdout).not.toContain("last refused");
});

describe("why, of a decision", () => {
  it("tells when it was, who it was, which limit decided and what would be decided now", async () => {
    const { visit, why } = await serve(
      "  rules:\n    - { name: req/ip, by: ip, limits: [2 per hour, 9 per day] }\n",
    );
    expect([(await visit("/")).status, (await visit("/")).status]).toEqual([200, 200]);
    const { status, id, body } = await visit("/search?token=hunter2", { authorization: "Bearer hunter2" });
    expect(status).toBe(429);
    expect(body).toContain(id);
    const { code, stdout, stderr } = await why(id);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(
      new RegExp(`^Decision ${id} refused this request (just now|\\d+ m?s ago), at \\d{4}-\\d\\d-\\d\\dT`),
    );
    expect(stdout).toMatch(/^ {2}GET 127\.0\.0\.1:\d+\/search from 203\.0\.113\.7, user agent "evil"$/m);
    expect(stdout).toMatch(
      /^Decided by the rule req\/ip: over its limit req\/ip\/3600 of 2 in 1 h for 203\.0\.113\.7; told to come back after \d+ (min|s) \((in \d+ (min|s)|now)\)\.$/m,
    );
    expect(stdout).toMatch(/^req\/ip\/3600 +203\.0\.113\.7 +0 +2 +1 h +- +refused$/m);
    expect(stdout).toMatch(/^req\/ip\/86400 +203\.0\.113\.7 +7 +9 .* passes$/m);
    expect(stdout).toMatch(/^Now:\nGET \/search from 203\.0\.113\.7 is refused\./m);
    const asJson = await why(id, "--json");
    const { decision, now } = JSON.parse(asJson.stdout) as DecisionAnswer;
    expect(decision).toMatchObject({ id, reason: "over-limit", about: { path: "/search" } });
    expect(decision.at).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(now).toMatchObject({ allowed: false, rules: [{ rule: "req/ip" }] });
    expect(stdout + asJson.stdout).not.toContain("hunter2");
  });

  it("tells of a hold until when it is, and ends with 0 when the client would pass now", async () => {
    const { visit, why, urls } = await serve(
      "  rules:\n    - { name: req/ip, by: ip, limits: [1 per hour], hold: { for: 10m } }\n",
    );
    await visit("/");
    await visit("/");
    const { id } = await visit("/");
    const held = await why(id);
    expect(held.code).toBe(1);
    expect(held.stdout).toMatch(
      /^Decided by the rule req\/ip: held until \d{4}-.*Z \(in \d+ min\), by 1 in 1 h for 203\.0\.113\.7\.$/m,
    );
    await run(["client", "clear", "203.0.113.7", "--url", urls.admin as string]);
    const later = await why(id);
    expect(later.code).toBe(0);
    expect(later.stdout).toContain("held until");
    expect(later.stdout).toMatch(/^Now:\nGET \/ from 203\.0\.113\.7 passes\./m);
  });

  it("knows decisions made for others, with the customer and the account a rule counts by", async () => {
    const { urls, why } = await serve(
      "  rules:\n    - { name: login, by: [ip, account], limits: [0 per hour] }\n",
    );
    const asked = await fetch(`${urls.decide}/v1/decide`, {
      method: "POST",
      body: JSON.stringify({
        subject: { ip: "203.0.113.9", path: "/login", customer: "42", account: `Eva${esc}[2J` },
      }),
    });
    const { id } = (await asked.json()) as { id: string };
    expect((await why(id)).stdout).toContain(
      "  GET /login from 203.0.113.9, customer 42, account Eva\\u001b[2J\n",
    );
  });

  it("names the list entry, who put it there and why", async () => {
    const { tidegate, gate } = await adminRig();
    await gate.blocklist.add("203.0.113.0/24", { who: "ann", why: "scraper", for: "6h" });
    const { id } = await gate.decide({
      ip: "203.0.113.7",
      method: "GET",
      host: "h",
      path: "/",
      header: () => undefined,
    });
    const { code, stdout } = await tidegate(`why ${id}`);
    expect(code).toBe(1);
    expect(stdout).toContain(
      "Decided by the blocklist: 203.0.113.0/24, put there by ann (scraper), ends in 6 h.\n",
    );
  });

  it("that was allowed, is not known or no longer, says where else to look", async () => {
    const { tidegate, gate } = await adminRig();
    const subject = { ip: "203.0.113.7", method: "GET", host: "h", path: "/", header: () => undefined };
    const { id } = await gate.decide(subject);
    for (const each of [`why ${id}`, "why mf3k2x9-1a", "why --decision abc-def"]) {
      const { code, stderr } = await tidegate(each);
      expect(code).toBe(4);
      expect(stderr).toContain("No refused decision of this id is remembered here.");
      expect(stderr).toContain("10,000");
      expect(stderr).toContain("`tidegate why <client>`");
    }
  });

  it("brings its own request, and is no client", async () => {
    const { tidegate } = await adminRig();
    const more = await tidegate("why mf3k2x9-1a --path /x");
    expect([more.code, more.stderr]).toEqual([2, expect.stringContaining("Give its id alone")]);
    const show = await tidegate("client show mf3k2x9-1a");
    expect([show.code, show.stderr]).toEqual([2, expect.stringContaining("`tidegate why mf3k2x9-1a`")]);
    const name = await tidegate("why abc-def");
    expect([name.code, name.stderr]).toEqual([2, expect.stringContaining("--decision")]);
  });
});

describe("with workers", () => {
  it("whichever of them refused, the decision is found, and of its client those of all", async () => {
    const folder = temporaryFolder();
    configFile(
      folder,
      `upstreams: [{ url: ${await upstream()} }]
store: { kind: redis, url: "redis://127.0.0.1:${inject("redisPort")}", prefix: t${crypto.randomUUID().slice(0, 8)} }
workers: 2
failure: { deadline: 10s }
policy: { rules: [{ name: req/ip, by: ip, limits: [0 per hour] }] }
`,
    );
    const { proxy, admin } = await startTidegate({ folder });
    const prefixes = new Set<string>();
    let refused = 0;
    for (let i = 0; i < 200 && prefixes.size < 2; i++) {
      const response = await fetch(proxy, { headers: { connection: "close" } });
      await response.arrayBuffer();
      refused++;
      const id = response.headers.get("tidegate-decision") as string;
      const [prefix = ""] = id.split("-");
      if (prefixes.has(prefix)) continue;
      prefixes.add(prefix);
      const { stdout, stderr } = await run(["why", id, "--url", admin]);
      expect(stderr).toBe("");
      expect(stdout).toContain(`Decision ${id} refused this request `);
      expect(stdout).toContain("Decided by the rule req/ip");
    }
    expect(prefixes.size).toBe(2);
    const seen = await fetch(`${admin}/v1/clients?within=127.0.0.0%2F8`);
    expect(await seen.json()).toMatchObject({ count: 1, clients: [{ client: "127.0.0.1", refused }] });
    const told = await run(["client", "seen", "127.0.0.0/8", "--url", admin]);
    expect(told).toMatchObject({ code: 0, stderr: "" });
    expect(told.stdout).toMatch(new RegExp(`^127\\.0\\.0\\.1 +${refused} +${refused} +.* refused `, "m"));
    const preview = await run(["list", "preview", "blocklist", "127.0.0.1", "nonsense", "--url", admin]);
    expect(preview.code).toBe(1);
    expect(preview.stderr).toContain("names the address you are calling from. It takes --force.");
    expect(preview.stderr).toContain("nonsense: This is not an address or a block.");
    expect(preview.stdout).toMatch(/^127\.0\.0\.1 +/m);
    expect((await run(["why", "mf3k2x9-1a", "--url", admin])).code).toBe(4);
  });
});
