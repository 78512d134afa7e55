import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startFastlyFake } from "../servers/fastly-fake/index.js";
import { adminRig, type RunOptions, tidegate as run } from "./cli-rig.js";
import { startEdgesAdmin } from "./edges-admin.js";
import { temporaryFolder } from "./running.js";

const digest = "a".repeat(64);
const soon = { timeout: 10_000 };

async function edgesRig(options: Parameters<typeof startEdgesAdmin>[0] = {}) {
  const admin = await startEdgesAdmin(options);
  return {
    ...admin,
    tidegate: (line: string | readonly string[], given?: RunOptions) =>
      run([...(typeof line === "string" ? line.split(" ") : line), "--url", admin.url], given),
  };
}

describe("edge status", () => {
  it("is a table of the edges, and fine when all are in step", async () => {
    const { tidegate, hold } = await edgesRig();
    await hold({ key: "203.0.113.7" });
    await expect.poll(async () => (await tidegate("edge status")).code, soon).toBe(0);
    const { stdout, stderr } = await tidegate("edge status");
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^EDGE +KIND +MODE +STATE +ENTRIES +PENDING +APPLIED \(P99\) +READ +KEEPER$/m);
    expect(stdout).toMatch(/^cdn +memory +on +in step +1\/100 +0 /m);
    expect(stdout).toMatch(/^lb +memory +on +in step +1\/100 .* test:1$/m);
  });

  it("ends with 1 when an edge is out of reach, behind, looked at by nobody or has an alarm, and says why", async () => {
    const { tidegate, desk } = await edgesRig({ names: ["cdn"] });
    const usual = {
      edge: "cdn",
      kind: "memory",
      mode: "on",
      maxEntries: 9,
      quarantined: [],
      evicted: 0,
      unknowable: 0,
      alarms: [],
    } as const;
    desk.edges = async () => [{ ...usual, state: "behind", pending: 3 }];
    expect((await tidegate("edge status")).code).toBe(1);
    desk.edges = async () => [{ ...usual, state: "in step", readAt: Date.now() - 3_600_000 }];
    const forsaken = await tidegate("edge status");
    expect(forsaken.code).toBe(1);
    expect(forsaken.stdout).toMatch(/^cdn +memory +on +nobody looks +/m);
    desk.edges = async () => [usual];
    expect((await tidegate("edge status")).stdout).toMatch(/^cdn +memory +on +out of reach +\?\/9 +- /m);
    desk.edges = async () => [
      {
        ...usual,
        state: "in step",
        stopped: "9 new entries in a minute",
        alarms: ["80 % full", "evil\u001b[31m"],
        setBy: { who: "ann", why: "attack", at: Date.now() - 120_000 },
        problem: { at: Date.now() - 10_000, message: "refused" },
        evicted: 2,
        unknowable: 1,
        quarantined: [{ key: digest, why: "no" }],
      },
    ];
    const { code, stdout } = await tidegate("edge status");
    expect(code).toBe(1);
    expect(stdout).toContain("cdn: set by ann (attack) 2 min ago\n");
    expect(stdout).toContain("cdn: stopped in shadow: 9 new entries in a minute\n");
    expect(stdout).toContain("cdn: alarm: 80 % full\n");
    expect(stdout).toContain("cdn: alarm: evil\\u001b[31m\n");
    expect(stdout).toContain("cdn: last failed 10 s ago: refused\n");
    expect(stdout).toContain(`cdn: does not take ${digest}: no\n`);
    const asJson = await tidegate("edge status --json");
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)[0].setBy.at).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it("without edges says so, and is fine", async () => {
    const { tidegate } = await adminRig();
    expect(await tidegate("edge status")).toMatchObject({ code: 0, stdout: "No edge is configured.\n" });
    expect((await tidegate("edge offenders")).stdout).toBe("Nobody is held.\n");
    const off = await tidegate("edge off cdn");
    expect(off.code).toBe(4);
    expect(off.stderr).toContain("No edge is configured here.");
  });
});

describe("edge on, off and shadow", () => {
  it("set the mode with a reason, and keep the entries", async () => {
    const { tidegate, tables, hold, data } = await edgesRig();
    await hold({ key: "203.0.113.7" });
    const off = await tidegate(["edge", "off", "cdn", "--why", "customers complain"]);
    expect(off).toMatchObject({ code: 0, stdout: "cdn is off: it refuses nobody, and keeps its entries.\n" });
    await expect.poll(() => tables.cdn?.mode, soon).toBe("off");
    expect(tables.cdn?.items.has("203.0.113.7")).toBe(true);
    expect((await data.audit.list())[0]).toMatchObject({ who: "cli:eva", why: "customers complain" });
    expect((await tidegate("edge shadow cdn --json")).stdout).toContain('"mode": "shadow"');
    await expect.poll(() => tables.cdn?.mode, soon).toBe("shadow");
    expect((await tidegate("edge on cdn")).stdout).toBe("cdn is on: it refuses who is held.\n");
    await expect.poll(() => tables.cdn?.mode, soon).toBe("on");
    expect(tables.cdn?.items.has("203.0.113.7")).toBe(true);
  });

  it("of an edge there is none of name those there are", async () => {
    const { tidegate } = await edgesRig();
    const { code, stderr } = await tidegate("edge off nginx");
    expect(code).toBe(4);
    expect(stderr).toContain("There are cdn, lb.");
    expect((await tidegate(["edge", "off", ".."])).code).toBe(2);
  });
});

describe("edge sync", () => {
  it("says what would be done, and does it", async () => {
    const { tidegate, desk, hold } = await edgesRig();
    await hold({ key: "203.0.113.7" });
    expect((await tidegate("edge sync cdn")).stdout).toMatch(/^cdn: as it should be\.$/m);
    expect(JSON.parse((await tidegate("edge sync --json")).stdout)).toMatchObject([
      { edge: "cdn" },
      { edge: "lb" },
    ]);
    const put = Array.from({ length: 30 }, (_, i) => ({
      key: `203.0.113.${i}`,
      until: Date.now() + 61_000,
      rule: "flood",
    }));
    desk.sync = async ({ edge = "cdn", isDryRun }) => [{ edge, isDryRun, put, remove: [digest] }];
    const dry = await tidegate("edge sync --dry-run");
    expect(dry.code).toBe(0);
    expect(dry.stdout).toContain("cdn: 30 would be put, 1 would be removed.\n");
    expect(dry.stdout).toContain(`  - ${digest}\n`);
    expect(dry.stdout).toMatch(/^ {2}\+ 203\.0\.113\.0 {2}flood, ends in 6\d s$/m);
    expect(dry.stdout).toContain("… and 11 more (--json has all)");
  });

  it("ends with 1 when an edge could not be set right", async () => {
    const { tidegate, desk } = await edgesRig();
    desk.sync = async ({ edge = "cdn", isDryRun }) => [
      { edge, isDryRun, put: [], remove: [], problem: "is gone" },
    ];
    expect(await tidegate("edge sync cdn")).toMatchObject({ code: 1, stdout: "cdn: is gone\n" });
  });
});

describe("a client held at an edge", () => {
  const about = {
    ip: "203.0.113.7",
    method: "POST",
    host: "example.com",
    path: "/login",
    userAgent: "sqlmap\u001b[2J",
  };

  it("is shown with rule, edges and when it ends, and so it is by why", async () => {
    const { tidegate, hold } = await edgesRig();
    await hold({ key: digest, rule: "edge/standard", edges: ["lb"], score: 3.456, leaked: 12, about });
    for (const verb of ["client show", "why"]) {
      const { stdout } = await tidegate(`${verb} 203.0.113.7`);
      expect(stdout).toMatch(/^HELD AT +BY RULE +KEY +SINCE +ENDS +TIMES OVER +LEAKED +LAST SEEN AS$/m);
      expect(stdout).toMatch(
        /^lb +edge\/standard +aaaaaaaaaaaa… .* in 10 min +3\.46 +12 +POST example\.com\/login "sqlmap\\u001b\[2J"$/m,
      );
    }
    const [held] = JSON.parse((await tidegate("why 203.0.113.7 --json")).stdout).offenders;
    expect(held.until).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(held.since).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect((await tidegate("client show 203.0.113.9")).stdout).not.toContain("HELD AT");
  });

  it("is not refused where an edge is off or stopped, and whose word that was is said", async () => {
    const { tidegate, hold, desk } = await edgesRig();
    await hold({ key: "203.0.113.7" });
    await tidegate(["edge", "off", "cdn", "--why", "complaints"]);
    const { edges } = desk;
    desk.edges = async () =>
      (await edges()).map((status) => (status.edge === "lb" ? { ...status, stopped: "too many" } : status));
    for (const verb of ["client show", "why"]) {
      const { stdout } = await tidegate(`${verb} 203.0.113.7`);
      expect(stdout).toMatch(/^cdn is off, so it lets everybody pass, set by cli:eva \(complaints\) .+\.$/m);
      expect(stdout).toMatch(/^lb stopped in shadow by itself, so it lets everybody pass: too many$/m);
    }
  });

  it("can not always be told of, and that is said", async () => {
    const { tidegate, desk } = await edgesRig();
    desk.find = async () => {
      throw new Error("gone");
    };
    const { code, stderr } = await tidegate("why 203.0.113.7");
    expect(code).toBe(0);
    expect(stderr).toContain("Whether it is held at an edge can not be told now.");
  });

  it("is listed with the others, worst first", async () => {
    const { tidegate, hold } = await edgesRig();
    await hold({ key: "203.0.113.7", score: 2 });
    await hold({ key: "203.0.113.8", score: 9 });
    const { stdout } = await tidegate("edge offenders");
    expect(stdout.indexOf("203.0.113.8")).toBeLessThan(stdout.indexOf("203.0.113.7"));
    expect(JSON.parse((await tidegate("edge offenders 203.0.113.7 --json")).stdout)).toMatchObject([
      { score: 2 },
    ]);
    expect(JSON.parse((await tidegate("edge offenders --most 1 --json")).stdout)).toMatchObject([
      { score: 9 },
    ]);
  });

  it("is taken off the edges by a clear", async () => {
    const { tidegate, hold, tables } = await edgesRig();
    await hold({ key: "203.0.113.7" });
    const { code, stdout } = await tidegate("client clear 203.0.113.7");
    expect(code).toBe(0);
    expect(stdout).toBe(
      "203.0.113.7: forgotten by req/ip; taken off cdn, lb (1 held); not known by these facts to api.\n",
    );
    await expect
      .poll(() => Object.values(tables).flatMap(({ items }) => [...items.keys()]), soon)
      .toEqual([]);
  });

  it("that was cleared is told so, by whom and for how long, until that ends", async () => {
    const { tidegate, hold } = await edgesRig();
    await hold({ key: "203.0.113.7" });
    await tidegate("client clear 203.0.113.7");
    for (const verb of ["client show", "why"]) {
      const { stdout } = await tidegate(`${verb} 203.0.113.7`);
      expect(stdout).toMatch(
        /^Cleared by cli:eva .+: until that wears off, in 10 min, it goes to no edge\.$/m,
      );
      expect((await tidegate(`${verb} 203.0.113.8`)).stdout).not.toContain("Cleared");
    }
    const [cleared] = JSON.parse((await tidegate("why 203.0.113.7 --json")).stdout).cleared;
    expect(cleared.until).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it("may also be listed: who put it there, why, and when that ends is said", async () => {
    const { tidegate, gate } = await edgesRig();
    await gate.blocklist.add("203.0.113.0/24", { who: "ann", why: "scraper", for: "6h" });
    for (const verb of ["client show", "why"])
      expect((await tidegate(`${verb} 203.0.113.7`)).stdout).toContain(
        "203.0.113.0/24 is on the blocklist, put there by ann (scraper), ends in 6 h.\n",
      );
  });
});

describe("edge render", () => {
  it.each([
    ["haproxy", "/etc/haproxy/tidegate"],
    ["varnish", "vcl 4.1;"],
    ["nginx-map", "/etc/nginx/tidegate/held.conf"],
    ["fastly", "tidegate_15"],
  ])("writes what %s has to be told", async (kind, words) => {
    const shown = await run(["edge", "render", kind]);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain(words);
    const cwd = temporaryFolder();
    const { files } = JSON.parse(
      (await run(["edge", "render", kind, "--out", "conf", "--json"], { cwd })).stdout,
    );
    for (const file of files) expect(existsSync(file)).toBe(true);
  });

  it("is as tidegate.yaml says, and flags win over it", async () => {
    const cwd = temporaryFolder();
    writeFileSync(
      join(cwd, "tidegate.yaml"),
      `upstreams: [{ url: http://127.0.0.1:3000 }]
identity: { fingerprint: seed }
edges:
  lb: { kind: haproxy, socket: /s, maps: /srv/maps }
  old: { kind: haproxy, socket: /s, maps: /srv/old }
  web: { kind: nginx, file: /srv/held.conf }
  cache: { kind: varnish, url: "http://127.0.0.1:6091", token: "\${TOKEN}" }
  cdn: { kind: fastly, service: x, token: "\${TOKEN}", prefix: shop, shards: 2, canary: "https://shop.example/c/now" }
`,
    );
    const env = { TOKEN: "a-long-enough-token" };
    const render = (...args: string[]) =>
      run(["edge", "render", ...args, "--config", "tidegate.yaml"], { cwd, env });
    const lb = await render("haproxy", "lb");
    expect(lb).toMatchObject({ code: 0, stderr: "" });
    expect(lb.stdout).toContain("/srv/maps");
    expect(lb.stdout).toContain("sha1");
    expect((await render("haproxy", "old", "--maps", "/srv/new")).stdout).toContain("/srv/new");
    expect((await render("haproxy")).stderr).toContain("Name one: lb, old.");
    expect((await render("haproxy", "web")).stderr).toContain("It has lb, old.");
    expect((await render("nginx-map")).stdout).toContain("/srv/held.conf");
    const cache = await render("varnish");
    expect(cache.stdout).toContain("hash_sha1");
    expect(cache.stdout).not.toContain("a-long-enough-token");
    expect((await render("varnish", "--fingerprint", "sha256")).stdout).toContain("hash_sha256");
    const cdn = await render("fastly");
    expect(cdn.stdout).toContain("shop_1");
    expect(cdn.stdout).not.toContain("shop_2");
    expect(cdn.stdout).toContain("/c/now");
    expect((await run(["edge", "render", "varnish", "--config", "none.yaml"], { cwd })).code).toBe(2);
  });

  it.each([
    [["caddy", "--maps", "/m"], "--maps says nothing to caddy."],
    [["haproxy", "--decide-url", "http://x"], "--decide-url says nothing to haproxy."],
    [["caddy", "--config", "x"], "--config says nothing to caddy."],
    [["traefik", "--cache-path", "/x"], "it is for nginx-auth alone"],
    [["varnish", "--fingerprint", "md5"], "Write sha256 or seed."],
    [["haproxy", "--client-header", "X-Forwarded-For"], "belong together"],
    [["haproxy", "lb"], "Add --config tidegate.yaml."],
    [["haproxy", "--maps", "/m;\nx"], "TG_RENDER"],
  ])("%j is refused", async (args, words) => {
    const { code, stderr } = await run(["edge", "render", ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  it("tells HAProxy whose word on the client is believed", async () => {
    const { stdout } = await run(
      "edge render haproxy --client-header X-Forwarded-For --client-from 10.0.0.0/8 --client-from 192.0.2.1".split(
        " ",
      ),
    );
    expect(stdout).toContain("src 10.0.0.0/8 192.0.2.1");
  });
});

describe("edge setup fastly", () => {
  async function fastly() {
    const fake = await startFastlyFake();
    onTestFinished(() => fake.close());
    const cwd = temporaryFolder();
    writeFileSync(
      join(cwd, "tidegate.yaml"),
      `upstreams: [{ url: http://127.0.0.1:3000 }]
edges:
  cdn: { kind: fastly, service: ${fake.service.id}, token: "\${TOKEN}", shards: 2, api: "${fake.url}" }
`,
    );
    const writes = () => fake.calls.filter(({ method }) => method !== "GET").length;
    const setup = (args: readonly string[], given: RunOptions = {}) =>
      run(["edge", "setup", "fastly", "--config", "tidegate.yaml", ...args], {
        cwd,
        env: { TOKEN: fake.token },
        ...given,
      });
    return { fake, writes, setup };
  }

  it("shows what it would do, and does nothing: with --dry-run, with nobody to ask, and when told no", async () => {
    const { writes, setup } = await fastly();
    const dry = await setup(["--dry-run"]);
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    expect(dry.stdout).toContain("Would create the dictionary tidegate_1.\n");
    expect((await setup([])).code).toBe(2);
    const no = await setup([], { says: "n" });
    expect(no.code).toBe(1);
    expect(no.stderr).toContain("Nothing was done.");
    expect(writes()).toBe(0);
  });

  it("does it after a yes, and nothing when it is done", async () => {
    const { fake, writes, setup } = await fastly();
    const done = await setup(["cdn"], { says: "yes" });
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(
      /^Would let Fastly validate it, and activate it\.\n[\s\S]*^Activate version \d+\.\n$/m,
    );
    expect(fake.items("tidegate_1").size).toBe(0);
    const before = writes();
    const again = await setup(["--json"]);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout).steps).toEqual([expect.stringContaining("has everything")]);
    expect(writes()).toBe(before);
  });

  it("that fails says why, and shows no token", async () => {
    const { fake, setup } = await fastly();
    const refused = await setup(["--yes"], { env: { TOKEN: "another-long-token" } });
    expect(refused.code).toBe(1);
    fake.fail({ match: /validate/, status: 500 });
    const invalid = await setup(["--yes"]);
    expect(invalid.code).toBe(1);
    expect(invalid.stdout).toContain("stays a draft");
    expect(refused.stderr + invalid.stderr + invalid.stdout).not.toMatch(/another-long-token|fake-token/);
    expect((await run(["edge", "setup", "fastly"])).stderr).toContain("Add --config");
  });
});

describe("help", () => {
  it.each(["status", "offenders", "on", "off", "shadow", "sync", "render", "setup"])(
    "of `edge %s` has an example that is about it",
    async (verb) => {
      const { code, stdout } = await run(["edge", verb, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`Examples?:\n  \\$ tidegate edge ${verb}`));
      expect(stdout).toContain("--json");
    },
  );

  it("completes the verbs", async () => {
    const { stdout } = await run(["completion", "bash"]);
    expect(stdout).toContain('" edge") choices="status offenders on off shadow sync render setup ');
    expect(stdout).toContain(
      '" edge render") choices="haproxy varnish nginx-map fastly nginx-auth caddy traefik ',
    );
  });

  it("says no option twice", async () => {
    const { stdout } = await run(["start", "--help"]);
    expect(stdout.match(/--redis <url>/g)).toHaveLength(1);
    expect(stdout.match(/--config <file>/g)).toHaveLength(1);
  });
});
