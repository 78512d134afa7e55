import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { EdgeError } from "../../packages/tidegate-server/src/edge.js";
import { startFastlyFake } from "../servers/fastly-fake/index.js";
import { freePort } from "../servers/index.js";
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

  it("ends with 1 when an edge is out of reach, behind, kept by nobody or has an alarm, and says why", async () => {
    const { tidegate, desk } = await edgesRig({ names: ["cdn"] });
    const usual = {
      edge: "cdn",
      kind: "memory",
      mode: "on",
      applied: true,
      maxEntries: 9,
      quarantined: [],
      evicted: 0,
      unknowable: 0,
      alarms: [],
    } as const;
    desk.edges = async () => [{ ...usual, state: "behind", pending: 3 }];
    expect((await tidegate("edge status")).code).toBe(1);
    desk.edges = async () => [{ ...usual, state: "nobody keeps it", readAt: Date.now() - 11_000 }];
    const forsaken = await tidegate("edge status");
    expect(forsaken.code).toBe(1);
    expect(forsaken.stdout).toMatch(/^cdn +memory +on +nobody keeps it +/m);
    desk.edges = async () => [usual];
    expect((await tidegate("edge status")).stdout).toMatch(/^cdn +memory +on +not read yet +\?\/9 +- /m);
    for (const [code, words] of [
      ["TG_EDGE_UNREACHED", "out of reach"],
      ["TG_EDGE_SETUP", "set up wrongly"],
      ["TG_EDGE_DENIED", "denied"],
    ] as const) {
      desk.edges = async () => [{ ...usual, problem: { at: Date.now(), message: "no", code } }];
      const failed = await tidegate("edge status");
      expect([failed.code, failed.stdout]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^cdn .*${words}`, "m")),
      ]);
    }
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
        foreign: 1,
        quarantined: [{ key: digest, why: "no" }],
      },
    ];
    const { code, stdout } = await tidegate("edge status");
    expect(code).toBe(1);
    expect(stdout).toContain("cdn: set by ann (attack) 2 min ago\n");
    expect(stdout).toContain("cdn: new entries are withheld: 9 new entries in a minute\n");
    expect(stdout).toContain("cdn: alarm: 80 % full\n");
    expect(stdout).toContain("cdn: alarm: evil\\u001b[31m\n");
    expect(stdout).toContain("cdn: last failed 10 s ago: refused\n");
    expect(stdout).toContain(`cdn: does not take ${digest}: no\n`);
    expect(stdout).toContain("cdn: no room for 2 held clients\n");
    expect(stdout).toContain("cdn: can not know 1 held client\n");
    expect(stdout).toContain("cdn: 1 entry of others, left alone\n");
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

  it("say so, and end with 1, where the edge could not be told", async () => {
    let isGone = false;
    const { tidegate, tables } = await edgesRig({
      names: ["front"],
      edge: (edge) => ({
        ...edge,
        current: (asked, signal) => {
          if (isGone) throw new EdgeError("TG_EDGE_UNREACHED", "front", "the socket is gone.", "See.", true);
          return edge.current(asked, signal);
        },
        setMode: (mode, signal) => {
          if (isGone) throw new EdgeError("TG_EDGE_UNREACHED", "front", "the socket is gone.", "See.", true);
          return edge.setMode(mode, signal);
        },
      }),
    });
    await expect.poll(() => tables.front?.mode, soon).toBe("on");
    isGone = true;
    const off = await tidegate("edge off front");
    expect(off).toMatchObject({
      code: 1,
      stdout:
        "front will be off as soon as it is reached; until then it still refuses who is held (last failure: the socket is gone. See.).\n",
    });
    const asJson = await tidegate("edge off front --json");
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ mode: "off", applied: false, standsAt: "on" });
    isGone = false;
    await expect.poll(async () => (await tidegate("edge off front")).code, soon).toBe(0);
    expect(tables.front?.mode).toBe("off");
  });

  it("of an edge there is none of name those there are", async () => {
    const { tidegate } = await edgesRig();
    const { code, stderr } = await tidegate("edge off nginx");
    expect(code).toBe(4);
    expect(stderr).toContain("There are cdn, lb.");
    expect((await tidegate(["edge", "off", ".."])).code).toBe(2);
    const sync = await tidegate("edge sync nginx");
    expect(sync.stderr).toContain('There is no edge "nginx".');
    expect(sync.stderr).toContain("There are cdn, lb.");
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

  it("says the edge's name once, whatever failed there", async () => {
    const { tidegate } = await edgesRig({
      names: ["cdn"],
      edge: (edge) => ({
        ...edge,
        current: () => Promise.reject(new EdgeError("TG_EDGE_UNREACHED", "cdn", "is gone.", "Look.", true)),
      }),
    });
    for (const line of ["edge sync", "edge sync --dry-run"])
      expect(await tidegate(line)).toMatchObject({ code: 1, stdout: "cdn: is gone. Look.\n" });
  });

  it("as a dry run says who keeps the edge, if another process does", async () => {
    const { tidegate, desk } = await edgesRig({ names: ["cdn"] });
    desk.sync = async ({ isDryRun }) => [{ edge: "cdn", isDryRun, put: [], remove: [], keeper: "host:7" }];
    expect((await tidegate("edge sync --dry-run")).stdout).toBe("cdn: as it should be. host:7 keeps it.\n");
    desk.sync = async ({ isDryRun }) => [
      { edge: "cdn", isDryRun, put: [], remove: [], keeper: "host:7", problem: "can not be read here" },
    ];
    expect(await tidegate("edge sync --dry-run")).toMatchObject({
      code: 1,
      stdout: "cdn: can not be read here. host:7 keeps it.\n",
    });
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
      expect(stdout).toMatch(/^AT THE EDGES +BY RULE +KEY +SINCE +ENDS +TIMES OVER +LEAKED +LAST SEEN AS$/m);
      expect(stdout).toMatch(
        /^lb: held +edge\/standard +aaaaaaaaaaaa… .* in 10 min +3\.46 +12 +POST example\.com\/login "sqlmap\\u001b\[2J"$/m,
      );
    }
    const [held] = JSON.parse((await tidegate("why 203.0.113.7 --json")).stdout).offenders;
    expect(held.until).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(held.since).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect((await tidegate("client show 203.0.113.9")).stdout).not.toContain("AT THE EDGES");
  });

  it("that the server itself would let pass is refused all the same, and why says so", async () => {
    const { tidegate, hold } = await edgesRig({ names: ["front"] });
    await hold({ key: "203.0.113.7", rule: "edge/standard", until: Date.now() + 57_000 });
    const why = await tidegate("why 203.0.113.7");
    expect(why.code).toBe(1);
    expect(why.stdout).toMatch(
      /^Refused at front \(edge\/standard, another 5\d s\); Tidegate itself would let it pass\.\n/,
    );
    const asJson = await tidegate("why 203.0.113.7 --json");
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ allowed: true, refusedAt: [{ edge: "front" }] });
    await tidegate("edge off front");
    const passes = await tidegate("why 203.0.113.7");
    expect(passes.code).toBe(0);
    expect(passes.stdout).toMatch(/^front: edge off +edge\/standard/m);
    await tidegate("edge shadow front");
    expect((await tidegate("edge offenders")).stdout).toMatch(/^front: edge in shadow +/m);
    await tidegate("edge on front");
    await tidegate("list add blocklist 203.0.113.7");
    expect((await tidegate("why 203.0.113.7")).stdout).toMatch(/^Refused at front \(.*\) too\.$/m);
  });

  it("is found by its digest, shown and cleared", async () => {
    const { tidegate, hold, tables } = await edgesRig();
    await hold({ key: digest, about });
    for (const verb of ["edge offenders", "client show", "why"]) {
      const { stdout } = await tidegate(`${verb} ${digest}`);
      expect(stdout).toMatch(/^cdn, lb: held +flood +aaaaaaaaaaaa… /m);
    }
    expect((await tidegate(`why ${digest}`)).code).toBe(1);
    const cleared = await tidegate(`client clear ${digest}`);
    expect(cleared.code).toBe(0);
    expect(cleared.stdout).toMatch(
      /^a+: taken off cdn, lb \(1 held\); goes to no edge until \S+Z \(in 10 min\)\.$/m,
    );
    expect([...(tables.cdn?.items.keys() ?? [])]).toEqual([]);
    const none = await tidegate(`client show ${digest}`);
    expect([none.code, none.stdout]).toEqual([1, "Nobody is held under this key.\n"]);
  });

  it("is looked for by address, block or digest, and by nothing else", async () => {
    const { tidegate, hold } = await edgesRig();
    await hold({ key: "203.0.113.7" });
    expect((await tidegate("edge offenders 203.0.113.0/24")).stdout).toContain("203.0.113.7");
    for (const wrong of ["foo", "abcdef", "203.0.113", "1.2.3.4/x"]) {
      const { code, stderr } = await tidegate(["edge", "offenders", wrong]);
      expect(code).toBe(2);
      expect(stderr).toContain("is neither an address nor a digest.");
    }
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
      expect(stdout).toMatch(
        /^lb withholds new entries by itself, so whoever is new there passes: too many$/m,
      );
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
    expect(stdout).toMatch(
      /^203\.0\.113\.7: forgotten by req\/ip; taken off cdn, lb \(1 held\); goes to no edge until \S+Z \(in 10 min\); not known by these facts to api\.\n$/,
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
    [["caddy", "web", "--config", "x"], "Leave its name out."],
    [["traefik", "--cache-path", "/x"], "it is for nginx-auth alone"],
    [["varnish", "--fingerprint", "md5"], "Write sha256 or seed."],
    [["haproxy", "--client-header", "X-Forwarded-For"], "belong together"],
    [["haproxy", "lb"], "Add --config tidegate.yaml."],
    [["haproxy", "--maps", "/m;\nx"], "TG_RENDER"],
    [["nginx"], "Did you mean nginx-map or nginx-auth?"],
    [["apache"], "There are haproxy, varnish, nginx-map, fastly, nginx-auth, caddy, traefik."],
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

describe("a file whose tokens are not set here", () => {
  function folder(): string {
    const cwd = temporaryFolder();
    writeFileSync(
      join(cwd, "tidegate.yaml"),
      `upstreams: [{ url: http://127.0.0.1:3000 }]
edges:
  cdn: { kind: fastly, service: SU1Z, token: "\${CDN_TOKEN}" }
  cache: { kind: varnish, url: "http://127.0.0.1:6091", token: "\${CACHE_TOKEN}" }
  lb: { kind: haproxy, socket: /run/lb.sock, maps: /srv/maps }
`,
    );
    return cwd;
  }
  const config = ["--config", "tidegate.yaml"];

  it("can be validated, and is told of them", async () => {
    const cwd = folder();
    const { code, stdout } = await run(["policy", "validate", "tidegate.yaml", "--json"], { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).warnings).toMatchObject([
      { code: "TG_ENV_MISSING", path: "edges.cdn.token", message: "The environment has no CDN_TOKEN." },
      { code: "TG_ENV_MISSING", path: "edges.cache.token" },
    ]);
  });

  it("is rendered where no token is written, and only there", async () => {
    const cwd = folder();
    expect((await run(["edge", "render", "fastly", ...config], { cwd })).code).toBe(0);
    const lb = await run(["edge", "render", "haproxy", ...config], { cwd });
    expect(lb.stdout).toContain("stats socket /run/lb.sock mode 660 group haproxy level admin");
    for (const verb of ["render varnish", "setup fastly"]) {
      const refused = await run(["edge", ...verb.split(" "), ...config], { cwd });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("TG_ENV_MISSING");
    }
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

  it("says which service the token does not know, and what could not be reached; in JSON the help is apart", async () => {
    const { setup } = await fastly();
    const cwd = temporaryFolder();
    const env = { TOKEN: "a-long-enough-token" };
    const file = (service: string, api: string) =>
      writeFileSync(
        join(cwd, "tidegate.yaml"),
        `upstreams: [{ url: http://127.0.0.1:3000 }]
edges: { cdn: { kind: fastly, service: ${service}, token: "\${TOKEN}", api: "${api}" } }
`,
      );
    const fake = await startFastlyFake();
    onTestFinished(() => fake.close());
    file("SU1Znobody", fake.url);
    const unknown = await setup(["--dry-run"], { cwd, env: { TOKEN: fake.token } });
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("there is no service SU1Znobody for this token");
    const gone = await freePort();
    file("SU1Z", `http://127.0.0.1:${gone}`);
    const { error } = JSON.parse((await setup(["--dry-run", "--json"], { cwd, env })).stderr);
    expect(error).toMatchObject({
      code: "TG_EDGE_UNREACHED",
      message: expect.stringMatching(
        new RegExp(`^cdn: http://127\\.0\\.0\\.1:${gone} did not answer .*\\.$`),
      ),
      help: expect.stringContaining("run it again"),
    });
    expect(error.message).not.toContain("TG_");
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
