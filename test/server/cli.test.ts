import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Registry } from "prom-client";
import { createGate } from "tidegate";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { demoConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import { decideService } from "../../packages/tidegate-server/src/decide/decide-service.js";
import { adminRig, firstPolicy, listening, tidegate } from "./cli-rig.js";
import { listeningLog } from "./customers-support.js";
import { configFile, temporaryFolder } from "./running.js";

const nobody = "http://127.0.0.1:1";
const esc = "\u001b";

describe("why", () => {
  it("says in words, rule by rule, who passes and who is refused, and ends with 1 for the latter", async () => {
    const { tidegate, visit } = await adminRig();
    const before = await tidegate("why 203.0.113.7");
    expect(before).toMatchObject({ code: 0, stderr: "" });
    expect(before.stdout).toContain("GET / from 203.0.113.7 passes.");
    expect(before.stdout).toMatch(/^req\/ip +yes +req\/ip\/3600, for 203\.0\.113\.7: 3 of 3 left/m);
    expect(before.stdout).toMatch(/^api +no +It does not apply/m);

    await visit("203.0.113.7", 4);
    const after = await tidegate("why 203.0.113.7");
    expect(after.code).toBe(1);
    expect(after.stdout).toContain("is refused");
  });

  it("knows customers, users and the rest of a request, and says it in JSON with times written out", async () => {
    const { tidegate } = await adminRig();
    const { code, stdout } = await tidegate("why customer:42 --path /api/x --ip 2001:db8::1 --json");
    expect(code).toBe(0);
    const { rules } = JSON.parse(stdout);
    expect(rules[1]).toMatchObject({ rule: "api", applies: true, tier: "free" });
    expect(rules[1].verdicts[0].at).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it("names who has no address by what is known", async () => {
    const { tidegate } = await adminRig();
    expect((await tidegate("why customer:42 --path /api/x")).stdout).toContain(
      "GET /api/x of customer 42 passes",
    );
  });

  it.each([
    ["not a client", "is no client"],
    ["customer:", "is no client"],
    ["nonsense", '"nonsense" is no client'],
    ["api.example.com", "is no client"],
  ])("asked for %o says what to give instead", async (client, words) => {
    const { code, stderr } = await tidegate(["why", client, "--url", nobody]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).toContain("customer:<id>");
  });

  it.each([
    ["--method", "FOO BAR", "POST"],
    ["--method", "", "POST"],
    ["--path", "foo", "/search"],
    ["--path", "https://example.com/search", "/search"],
    ["--path", "/a b", "/search"],
    ["--ip", "nonsense", "203.0.113.7"],
  ])("about a request no client could send (%s %o) is not understood", async (flag, value, words) => {
    const { tidegate } = await adminRig();
    for (const verb of ["why", "client show"]) {
      const { code, stdout, stderr } = await tidegate([...verb.split(" "), "customer:42", flag, value]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`option '${flag} `);
      expect(stderr).toContain(words);
    }
  });

  it("about methods in any case and of one's own, and addresses in brackets, is answered", async () => {
    const { tidegate } = await adminRig();
    const { code, stdout } = await tidegate("why customer:42 --ip [2001:db8::1] --method m-search --path /");
    expect(code).toBe(0);
    expect(stdout).toContain("M-SEARCH / from 2001:db8::1");
  });
});

describe("lists", () => {
  it("are added to, shown and removed from", async () => {
    const { tidegate, gate } = await adminRig();
    const added = await tidegate([
      "list",
      "add",
      "blocklist",
      "203.0.113.0/24",
      "--for",
      "6h",
      "--why",
      "scraper",
    ]);
    expect(added).toMatchObject({ code: 0, stdout: "203.0.113.0/24 is on the blocklist, it ends in 6 h.\n" });
    expect(gate.blocklist.find("203.0.113.9")).toMatchObject({ who: "cli:eva", why: "scraper" });

    await tidegate("list add safelist 2001:db8::1 --permanent");
    const shown = await tidegate("list show");
    expect(shown.stdout).toMatch(/^2001:db8::1 +removed +cli:eva +-$/m);
    expect(shown.stdout).toMatch(/^203\.0\.113\.0\/24 +in 6 h +cli:eva +scraper$/m);
    const [safelist] = JSON.parse((await tidegate("list show --json")).stdout);
    expect(safelist).toMatchObject({ list: "safelist", entries: [{ address: "2001:db8::1" }] });

    expect(await tidegate("list remove blocklist 203.0.113.0/24 --yes")).toMatchObject({ code: 0 });
    expect(gate.blocklist.find("203.0.113.9")).toBeUndefined();
    const again = await tidegate("list remove blocklist 203.0.113.0/24 --yes");
    expect(again).toMatchObject({ code: 4 });
    expect(again.stderr).toContain("no such entry");
    expect(again.stderr).toContain("`tidegate list show blocklist` lists them");
  });

  it("are shown page by page, to the end", async () => {
    const { tidegate, gate } = await adminRig();
    for (let i = 0; i < 600; i++) await gate.blocklist.add(`10.0.${i >> 8}.${i & 255}`);
    const { stdout } = await tidegate("list show blocklist --most 5000 --json");
    expect(JSON.parse(stdout).entries).toHaveLength(600);
    const few = await tidegate("list show blocklist --most 7");
    expect(few.stdout).toContain("The first 7; there may be more (--most).");
  });

  it("are not emptied by a slip: removing asks, and without anybody to ask it refuses", async () => {
    const { tidegate, gate } = await adminRig();
    await gate.blocklist.add("203.0.113.7");
    const alone = await tidegate("list remove blocklist 203.0.113.7");
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain("--yes");
    const unsure = await tidegate("list remove blocklist 203.0.113.7", { says: "" });
    expect(unsure).toMatchObject({ code: 1 });
    expect(unsure.stderr).toContain("Take 203.0.113.7 off the blocklist? [y/N]");
    expect(gate.blocklist.find("203.0.113.7")).toBeDefined();
    expect((await tidegate("list remove blocklist 203.0.113.7", { says: "y" })).code).toBe(0);
    expect(gate.blocklist.find("203.0.113.7")).toBeUndefined();
  });

  it("say when an address was blocked that passes all the same, for the safelist wins", async () => {
    const { tidegate, gate } = await adminRig();
    await gate.safelist.add("203.0.113.0/24");
    const added = await tidegate("list add blocklist 203.0.113.7");
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("is on the blocklist") });
    expect(added.stderr).toContain("203.0.113.0/24 is on the safelist, and the safelist wins");
    expect((await tidegate("list add blocklist 203.0.113.128/25")).stderr).toContain("the safelist wins");
    expect((await tidegate("list add blocklist 198.51.100.1")).stderr).toBe("");
    expect((await tidegate("list add blocklist 203.0.113.8 --json")).stderr).toBe("");
  });

  it("are guarded by the server, and --force says it is meant", async () => {
    const { tidegate } = await adminRig();
    const { code, stderr } = await tidegate("list add blocklist 127.0.0.1");
    expect(code).toBe(4);
    expect(stderr).toContain("add --force");
    expect((await tidegate("list add blocklist 127.0.0.1 --force")).code).toBe(0);
  });

  it.each([
    [["list", "add", "greylist", "1.2.3.4"], 2, "safelist and blocklist"],
    [["list", "add", "blocklist", "1.2.3.4", "--for", "1h", "--permanent"], 2, "contradict"],
    [["list", "add", "blocklist", ".."], 2, "can not be asked for"],
    [["list", "add", "blocklist", "1.2.3"], 2, "TG_LIST_ADDRESS"],
    [["list", "add", "blocklist", "300.1.1.1"], 2, "is not an address"],
    [
      ["list", "add", "blocklist", "1.2.3.4", "--for", "tomorrow"],
      2,
      '--for \\"tomorrow\\" is not a duration.',
    ],
    [["list", "add", "blocklist", "0.0.0.0/0"], 2, "To refuse everyone"],
    [["list", "show", "--most", "0"], 2, "whole number"],
    [["list", "add"], 2, "missing required argument"],
    [["list", "show", "--mots", "1"], 2, "Did you mean --most?"],
    [["lisst"], 2, "unknown command"],
    [["list"], 2, "Usage: tidegate list"],
  ])("%o is not understood, and it is said why", async (args, expected, words) => {
    const { tidegate } = await adminRig();
    const { code, stderr, stdout } = await tidegate([...args, "--json"]);
    expect(code).toBe(expected);
    expect(stderr).toContain(words);
    expect(JSON.parse(stderr).error).toMatchObject({
      message: expect.any(String),
      help: expect.stringMatching(/./),
      exit: expected,
    });
    expect(stdout).toBe("");
    const plain = await tidegate(args);
    expect(plain.code).toBe(expected);
    expect(plain.stderr).not.toMatch(/^\{/);
  });
});

describe("customers", () => {
  it("are put into tiers and get limits of their own", async () => {
    const { tidegate, gate } = await adminRig();
    expect(await tidegate("customer show 42")).toMatchObject({ code: 1 });
    expect((await tidegate("customer tier 42 pro")).stdout).toContain("tier      pro");
    expect((await tidegate("customer override 42 60=10 3600=100")).stdout).toContain(
      "10 in 1 min, 100 in 1 h",
    );
    expect(await gate.customers.get("42")).toMatchObject({ tier: "pro" });
    expect(JSON.parse((await tidegate("customer show 42 --json")).stdout)).toEqual({
      id: "42",
      tier: "pro",
      limits: { 60: 10, 3600: 100 },
    });
    await tidegate("customer override 42 --none");
    await tidegate("customer tier 42 --none");
    expect(await gate.customers.get("42")).toBeUndefined();
  });

  it("of a database that falls silent on a change: it is told as pending, not that nobody answers", async () => {
    const url = await listening((req, res) => {
      if (req.method === "GET") res.end("[]");
    });
    const { tidegate } = await adminRig({ source: { kind: "http", url, everyMs: 60_000 } });
    const { code, stdout } = await tidegate("customer tier 42 pro");
    expect(code).toBe(0);
    expect(stdout).toContain("has not confirmed it");
  });

  it("may be called whatever they like", async () => {
    const { tidegate, gate } = await adminRig();
    const id = "a/b ?#%2e ü";
    expect((await tidegate(["customer", "tier", id, "pro"])).code).toBe(0);
    expect(await gate.customers.get(id)).toEqual({ tier: "pro" });
  });

  it.each([
    ["customer tier 42 gold", 4, "gold"],
    ["customer tier 42", 2, "Which tier?"],
    ["customer tier 42 pro --none", 2, "Which tier?"],
    ["customer override 42", 2, "Which limits?"],
    ["customer override 42 60:10", 2, "60=100"],
    ["customer override 42 60=-1", 2, "60=100"],
    ["customer override 42 60=9 0=5", 2, '"0=5" is not a limit'],
    ["customer override 42 315360001=5", 2, '"315360001=5" is not a limit'],
    ["customer show ..", 2, "can not be asked for"],
  ])("`%s` is declined with the reason", async (line, expected, words) => {
    const { tidegate } = await adminRig();
    const { code, stderr } = await tidegate(line);
    expect(code).toBe(expected);
    expect(stderr).toContain(words);
  });
});

describe("a client", () => {
  it("is shown level by level, and forgotten", async () => {
    const { tidegate, visit } = await adminRig();
    await visit("203.0.113.7", 4);
    const { stdout } = await tidegate("client show 203.0.113.7");
    expect(stdout).toMatch(/^LEVEL +KEY +LEFT +LIMIT +WINDOW +STATE +WHOLE AGAIN$/m);
    expect(stdout).toMatch(/^req\/ip\/3600 +203\.0\.113\.7 +0 +3 +1 h +refused +in \d+ (min|s)$/m);
    const cleared = await tidegate("client clear 203.0.113.7");
    expect(cleared.stdout).toContain("203.0.113.7: forgotten by req/ip; not known by these facts to api.");
    expect((await tidegate("why 203.0.113.7")).code).toBe(0);
  });

  it("that is locked out is let in by the facts it was refused by, and what was not known is said", async () => {
    const { tidegate, gate, keeper } = await adminRig();
    await keeper.takeIn(
      "rules: [{ name: pair, only: POST /login, by: [ip, account], limits: [1 per hour] }]\n",
      { who: "ann" },
    );
    const attempt = (account?: string) =>
      gate.decide({
        ip: "198.51.100.20",
        method: "POST",
        host: "h",
        path: "/login",
        header: () => undefined,
        account,
      });
    for (const account of [undefined, undefined, "eva", "eva"]) await attempt(account);
    const facts = "198.51.100.20 --method POST --path /login";
    expect((await tidegate(`why ${facts}`)).code).toBe(1);
    const partly = await tidegate(`client clear ${facts}`);
    expect(partly).toMatchObject({
      code: 0,
      stdout: "198.51.100.20: by pair only as far as known: add --account <name>.\n",
    });
    expect((await tidegate(`why ${facts}`)).code).toBe(0);
    expect((await tidegate(`why ${facts} --account eva`)).code).toBe(1);
    const wholly = await tidegate("client clear 198.51.100.20 --account Eva");
    expect(wholly.stdout).toBe("198.51.100.20: forgotten by pair.\n");
    expect((await tidegate(`why ${facts} --account eva`)).code).toBe(0);
  });

  it("that is one of several is forgotten only after a yes", async () => {
    const { tidegate } = await adminRig();
    expect(await tidegate("client clear 203.0.113.7 203.0.113.8")).toMatchObject({ code: 2 });
    const sure = await tidegate("client clear 203.0.113.7 203.0.113.8 --yes --json");
    expect(JSON.parse(sure.stdout).map(({ client }: { client: string }) => client)).toEqual([
      "203.0.113.7",
      "203.0.113.8",
    ]);
  });
});

describe("policy", () => {
  const second = firstPolicy.replace("3 per hour", "4 per hour");

  it("is shown, listed, compared and rolled back", async () => {
    const { tidegate, keeper, gate } = await adminRig();
    await keeper.takeIn(second, { who: "ann", why: "busy season" });
    expect(await tidegate("policy show")).toMatchObject({ code: 0, stdout: second });
    expect((await tidegate("policy show 1")).stdout).toBe(firstPolicy);
    expect((await tidegate("policy show", { isTTY: true })).stdout).toContain("# version 2, from api by ann");

    const { stdout: history } = await tidegate("policy history");
    expect(history).toMatch(/^2 \* +(now|\d+ s ago) +ann +api +busy season$/m);
    expect(history).toMatch(/^1 +.*demo/m);

    const diff = await tidegate("policy diff");
    expect(diff.code).toBe(1);
    expect(diff.stdout).toContain("-  - { name: req/ip, by: ip, limits: [3 per hour] }\n+  - { name: req/ip");
    expect(await tidegate("policy diff 2 2")).toMatchObject({ code: 0, stdout: "2 and 2 are the same.\n" });

    expect((await tidegate("policy rollback")).code).toBe(2);
    expect((await tidegate("policy rollback", { says: "no" })).code).toBe(1);
    const back = await tidegate(["policy", "rollback", "1", "--why", "quiet again", "--yes"]);
    expect(back).toMatchObject({ code: 0 });
    expect(back.stdout).toContain("In force is version 3, from rollback by cli:eva");
    expect(gate.policy.rules[0]).toMatchObject({ name: "req/ip" });
    expect((await tidegate("policy diff 1 3")).code).toBe(0);
    const missing = await tidegate("policy show 99");
    expect(missing).toMatchObject({ code: 4 });
    expect(missing.stderr).toContain("no such policy version");
    expect(missing.stderr).toContain("`tidegate policy history` lists them");
  });

  it("has rules that are switched one by one, after a yes, with nothing else changed", async () => {
    const { tidegate, gate, visit } = await adminRig();
    expect((await tidegate("policy rules")).stdout).toMatch(/^req\/ip +enforce$/m);
    await visit("203.0.113.7", 4);
    expect((await tidegate("why 203.0.113.7")).code).toBe(1);
    expect((await tidegate("policy rule req/ip off")).code).toBe(2);
    expect((await tidegate("policy rule req/ip off", { says: "no" })).code).toBe(1);
    const off = await tidegate(["policy", "rule", "req/ip", "off", "--why", "too many", "--yes"]);
    expect(off).toMatchObject({
      code: 0,
      stdout: "req/ip is off: it does nothing. In force is version 2.\n",
    });
    expect((await tidegate("why 203.0.113.7")).code).toBe(0);
    expect((await tidegate("policy show")).stdout).toBe(firstPolicy.replace("req/ip,", "req/ip, mode: off,"));
    expect((await tidegate("audit")).stdout).toMatch(/rule req\/ip: off \(too many\)/);
    expect((await tidegate("policy rule req/ip off --yes")).stdout).toBe("req/ip is off already.\n");
    expect(JSON.parse((await tidegate("policy rules --json")).stdout)).toMatchObject({
      version: 2,
      rules: [
        { name: "req/ip", mode: "off" },
        { name: "api", mode: "enforce" },
      ],
    });
    const { stdout } = await tidegate("audit --json");
    const [{ id }] = JSON.parse(stdout) as [{ id: number }];
    expect((await tidegate(`audit undo ${id} --yes`)).code).toBe(0);
    expect(gate.policy.rules[0]?.mode).toBeUndefined();
    const missing = await tidegate("policy rule nobody shadow --yes");
    expect(missing).toMatchObject({ code: 4 });
    expect(missing.stderr).toContain("There are req/ip, api.");
    expect((await tidegate("policy rule req/ip loud --yes")).code).toBe(2);
  });

  it.each(["policy show", "policy history"])(
    "`%s` says what is wrong with the file, and keeps it out of what is piped on",
    async (line) => {
      const file = {
        path: "/etc/tidegate.yaml",
        state: "refused",
        problem: "one\n\ntwo",
        problems: [
          {
            line: 4,
            column: 7,
            path: "policy.rules[0].by",
            message: "Odd.",
            help: "Write ip.",
            code: "TG_BY",
          },
        ],
      };
      let status: object = { version: 1, file };
      const url = await listening((req, res) => {
        const version = { id: 1, text: "rules: []\n", who: "ann", at: 0, source: "file" };
        const isList = (req.url as string).includes("versions");
        res.end(JSON.stringify(isList ? { versions: [version] } : { status, version }));
      });
      const ask = (...more: string[]) => tidegate([...line.split(" "), "--url", url, ...more]);
      const refused = await ask();
      expect(refused.stderr).toBe(
        "/etc/tidegate.yaml is refused, and the policy in force stays:\n  line 4:7 policy.rules[0].by: Odd. Write ip. [TG_BY]\n",
      );
      expect(refused.stdout).not.toContain("refused");
      expect((await ask("--json")).stderr).toBe("");
      status = { version: 1, file: { path: "/etc/tidegate.yaml", state: "behind" } };
      expect((await ask()).stderr).toContain("/etc/tidegate.yaml is behind");
      status = { version: 1, file: { path: "/etc/tidegate.yaml", state: "in force" } };
      expect((await ask()).stderr).toBe("");
      const needsRestart = ["admin.token", "trustedProxies"];
      status = { version: 1, file: { path: "/etc/tidegate.yaml", state: "in force", needsRestart } };
      expect((await ask()).stderr).toBe(
        "admin.token, trustedProxies: changed in /etc/tidegate.yaml; in effect from the next start.\n",
      );
    },
  );

  const folder = () => temporaryFolder();
  function fileOf(text: string): { cwd: string } {
    const cwd = folder();
    writeFileSync(join(cwd, "tidegate.yaml"), text);
    return { cwd };
  }
  const validate = ["policy", "validate", "tidegate.yaml"];

  it("in a file is validated without a server: a whole configuration, and a policy alone", async () => {
    const whole = fileOf(
      `upstreams: [{ url: http://127.0.0.1:1 }]\npolicy:\n  ${firstPolicy.replaceAll("\n", "\n  ")}`,
    );
    expect(await tidegate(validate, whole)).toMatchObject({ code: 0, stderr: "" });
    const alone = await tidegate(validate, fileOf(firstPolicy));
    expect(alone).toMatchObject({ code: 0 });
    expect(alone.stdout).toContain("tidegate.yaml can be used.");
    expect(JSON.parse((await tidegate([...validate, "--json"], fileOf(firstPolicy))).stdout)).toMatchObject({
      ok: true,
      problems: [],
    });
  });

  it.each([
    [
      "a whole configuration",
      "listen: { proxy: false }\npolicy:\n  rules:\n    - { name: a, by: ipp, limits: [5 per hour] }\n",
      4,
      "policy.rules[0].by",
    ],
    ["a policy alone", "rules:\n  - { name: a, by: ip, limits: [5 pro hour] }\n", 2, "rules[0].limits[0]"],
  ])("with a mistake in %s is told by line, column, path and fix", async (_name, text, line, path) => {
    const at = fileOf(text);
    const told = await tidegate(validate, at);
    expect(told.code).toBe(1);
    expect(told.stdout).toMatch(new RegExp(`^tidegate\\.yaml:${line}:\\d+ `, "m"));
    expect(told.stdout).toContain(path);
    const { ok, problems } = JSON.parse((await tidegate([...validate, "--json"], at)).stdout);
    expect(ok).toBe(false);
    expect(problems[0]).toMatchObject({ line, path, column: expect.any(Number), help: expect.any(String) });
  });

  it("in a file that is not there, no YAML, or hostile is an answer, not a crash", async () => {
    const missing = await tidegate(["policy", "validate", "missing.yaml"]);
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toMatch(
      /^tidegate: missing\.yaml: It can not be read \(ENOENT\)\.\nName the file/,
    );
    for (const text of ["{", "\u0000", "- 1", "a: &a [*a]", `rules: ["${esc}]0;x"]`, `${"[".repeat(5000)}`]) {
      const { code, stdout, stderr } = await tidegate(validate, fileOf(text));
      expect(code).toBe(1);
      expect(stdout + stderr).not.toContain(esc);
    }
  });
});

describe("top and audit", () => {
  it("show who is busiest, once or again and again", async () => {
    const { tidegate, visit } = await adminRig();
    expect((await tidegate("top")).stdout).toBe("Nobody came lately.\n");
    await visit("203.0.113.7", 5);
    await visit("203.0.113.8", 1);
    const { stdout } = await tidegate("top");
    expect(stdout).toMatch(/^CLIENT +REQUESTS +REFUSED\n.*203\.0\.113\.7 +5 +2\n/);
    expect(JSON.parse((await tidegate("top --most 1 --json")).stdout)).toHaveLength(1);

    const enough = new AbortController();
    let draws = 0;
    const onWrite = () => {
      if (++draws === 2) enough.abort();
    };
    const watching = tidegate("top --every 1", { isTTY: true, interrupted: enough.signal, onWrite });
    expect((await watching).code).toBe(0);
  });

  it("show whole numbers, though what fades is none", async () => {
    const clients = [
      { key: "a", count: 100.36535265481746, error: 0, refused: 2.4 },
      { key: "b", count: 20.2, error: 3.1, refused: 0 },
      { key: "c", count: 9.8, error: 0.1, refused: 0 },
    ];
    const url = await listening((_req, res) => res.end(JSON.stringify({ clients })));
    const { stdout } = await tidegate(["top", "--once", "--url", url]);
    expect(stdout).toMatch(/^a +100 +2$/m);
    expect(stdout).toMatch(/^b +17-20 +0$/m);
    expect(stdout).toMatch(/^c +10 +0$/m);
    expect(stdout).toContain("counts half as much after five minutes");
  });

  it("tell who changed what", async () => {
    const { tidegate } = await adminRig();
    await tidegate(["list", "add", "blocklist", "203.0.113.7", "--why", "scraper"]);
    const { stdout } = await tidegate("audit");
    expect(stdout).toMatch(/^\S.* +cli:eva +blocklist\.add +203\.0\.113\.7 +scraper$/m);
    expect(JSON.parse((await tidegate("audit --most 1 --json")).stdout)).toMatchObject([
      { who: "cli:eva", at: expect.stringMatching(/Z$/) },
    ]);
  });
});

describe("decide", () => {
  async function service(): Promise<string> {
    const { settings } = demoConfig();
    const gate = createGate({ rules: [{ name: "req/ip", by: "ip", limits: ["2 per hour"] }] });
    const { log } = listeningLog();
    const decide = decideService({
      settings: { ...settings, decide: { ...settings.decide, peers: ["127.0.0.1"] } },
      gate,
      log,
      registry: new Registry(),
    });
    onTestFinished(async () => {
      await decide.close();
      await gate.close();
    });
    return listening(decide.handle);
  }

  it("judges and charges, and ends with 1 when refused", async () => {
    const url = await service();
    const ask = (...more: string[]) => tidegate(["decide", "203.0.113.7", "--decide-url", url, ...more]);
    const first = await ask();
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain("allowed  within-limits, req/ip/3600 for 203.0.113.7: 1 of 2 left in 1 h");
    expect(JSON.parse((await ask("--json")).stdout)).toMatchObject({ allowed: true });
    const refused = await ask();
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/^refused {2}over-limit.*again in/);
    expect((await ask("--cost", "much")).code).toBe(2);
    expect((await ask("--rule", "none")).code).toBe(4);
  });
});

describe("edge render", () => {
  it.each(["nginx-auth", "caddy", "traefik"])("writes what %s has to be told", async (proxy) => {
    const shown = await tidegate(["edge", "render", proxy, "--decide-url", "http://10.0.0.5:8090"]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain("10.0.0.5:8090");
    const cwd = temporaryFolder();
    const written = await tidegate(["edge", "render", proxy, "--out", "conf", "--json"], { cwd });
    for (const file of JSON.parse(written.stdout).files) expect(existsSync(file)).toBe(true);
  });

  it.each([
    ["nginx-auth", 'proxy_set_header x-customer-id "";'],
    ["caddy", "header_up -x-customer-id"],
    ["traefik", "Never x-customer-id"],
  ])(
    "tells %s where the file's decision service is, and which headers are not the client's to say",
    async (proxy, drops) => {
      const cwd = temporaryFolder();
      const render = async (listen: string, ...flags: string[]) => {
        configFile(
          cwd,
          `listen: { proxy: false, ${listen} }
decide: { token: "\${TOKEN}" }
identify: { customer: X-Customer-Id }
`,
        );
        return tidegate(["edge", "render", proxy, "--config", "tidegate.yaml", ...flags], { cwd });
      };
      const shown = await render("decide: 9191");
      expect(shown).toMatchObject({ code: 0, stderr: "" });
      expect(shown.stdout).toContain("127.0.0.1:9191");
      expect(shown.stdout).toContain(drops);
      expect(shown.stdout).not.toContain("identify.");
      expect((await render("decide: ':9191'")).stdout).toMatch(/127\.0\.0\.1:9191|\[::1\]:9191/);
      const flagged = await render(
        "decide: 9191",
        "--decide-url",
        "http://10.0.0.5:1",
        "--customer-header",
        "X-Other",
      );
      expect(flagged.stdout).toContain("10.0.0.5:1");
      expect(flagged.stdout).toContain("X-Other");
      for (const nowhere of ["decide: false", "decide: 0"]) {
        expect(await render(nowhere)).toMatchObject({
          code: 2,
          stderr: expect.stringContaining("--decide-url"),
        });
        expect((await render(nowhere, "--decide-url", "http://10.0.0.5:1")).code).toBe(0);
      }
    },
  );

  it.each(["nginx-auth", "caddy"])(
    "says in what %s is told, and beside it, that headers were not known",
    async (proxy) => {
      const unknown = await tidegate(["edge", "render", proxy]);
      expect(unknown.stdout).toMatch(/# NOT DROPPED: .* identify\.customer and identify\.user\./);
      expect(unknown.stderr).toContain("--config tidegate.yaml");
      const half = await tidegate(["edge", "render", proxy, "--customer-header", "X-Customer-Id"]);
      expect(half.stdout).toMatch(/# NOT DROPPED: .* of identify\.user\./);
      const both = ["--customer-header", "X-Customer-Id", "--user-header", "X-User-Id"];
      const whole = await tidegate(["edge", "render", proxy, ...both]);
      expect(whole.stdout).not.toContain("NOT DROPPED");
      expect(whole.stderr).toBe("");
    },
  );

  it("refuses what could break out of a configuration", async () => {
    const { code, stderr } = await tidegate(["edge", "render", "caddy", "--decide-url", "http://x;}\n"]);
    expect(code).toBe(2);
    expect(stderr).toContain("TG_RENDER");
    expect((await tidegate(["edge", "render", "squid"])).code).toBe(2);
  });
});

describe("schema and completion", () => {
  it("the schema of the file is JSON", async () => {
    expect(JSON.parse((await tidegate(["schema"])).stdout)).toMatchObject({ title: "tidegate.yaml" });
  });

  it("bash completes commands, their verbs and options", async () => {
    const { stdout } = await tidegate(["completion", "bash"]);
    const complete = (...words: string[]) =>
      execFileSync(
        "bash",
        [
          "-c",
          `${stdout}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tidegate; echo "\${COMPREPLY[@]}"`,
          "-",
          "tidegate",
          ...words,
        ],
        { encoding: "utf8" },
      )
        .trim()
        .split(" ");
    expect(complete("po")).toEqual(["policy"]);
    expect(complete("list", "")).toEqual(expect.arrayContaining(["add", "remove", "show", "--json"]));
    expect(complete("list", "add", "--p")).toEqual(["--permanent"]);
    expect(complete("edge", "render", "c")).toEqual(["caddy"]);
    for (const verb of ["show", "add", "remove"]) {
      expect(complete("list", verb, "")).toEqual(expect.arrayContaining(["safelist", "blocklist"]));
    }
  });

  it.each(["zsh", "fish"])("%s gets a script that knows every command", async (shell) => {
    const { stdout } = await tidegate(["completion", shell]);
    for (const word of ["rollback", "override", "--permanent", "nginx-auth"]) expect(stdout).toContain(word);
    expect((await tidegate(["completion", "tcsh"])).code).toBe(2);
  });
});

describe("help", () => {
  it.each([
    "start",
    "decide",
    "why",
    "list",
    "list show",
    "list add",
    "list remove",
    "list preview",
    "customer",
    "customer show",
    "customer tier",
    "customer override",
    "client",
    "client show",
    "client clear",
    "client seen",
    "policy",
    "policy validate",
    "policy show",
    "policy history",
    "policy diff",
    "policy rollback",
    "policy rules",
    "policy rule",
    "top",
    "audit",
    "edge",
    "edge render",
    "replay",
    "schema",
    "completion",
  ])("of `%s` has an example that is about it", async (verb) => {
    const { code, stdout } = await tidegate([...verb.split(" "), "--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`Examples?:\n  \\$ tidegate ${verb}`));
    expect(stdout).toContain("--json");
  });

  it("without a command, of the whole, and of a misspelt one", async () => {
    expect((await tidegate([])).code).toBe(2);
    expect(await tidegate(["--help"])).toMatchObject({ code: 0 });
    expect((await tidegate(["help", "list"])).code).toBe(0);
    expect((await tidegate(["polcy"])).stderr).toContain("Did you mean policy?");
    const { version } = JSON.parse(
      readFileSync(new URL("../../packages/tidegate-server/package.json", import.meta.url), "utf8"),
    );
    expect((await tidegate(["--version"])).stdout.trim()).toBe(version);
  });
});

describe("a server", () => {
  it("that does not run is told with how to start it", async () => {
    const { code, stderr } = await tidegate(["audit"], { env: { TIDEGATE_URL: nobody } });
    expect(code).toBe(3);
    expect(stderr).toContain("tidegate start");
    expect(stderr).toContain("TIDEGATE_URL");
    const asJson = await tidegate(["audit", "--json", "--url", nobody]);
    expect(JSON.parse(asJson.stderr).error).toMatchObject({ exit: 3 });
  });

  it("that wants a token is told apart, and the token is taken from the environment", async () => {
    const { tidegate } = await adminRig({ token: "hush" });
    const without = await tidegate("audit");
    expect(without.code).toBe(4);
    expect(without.stderr).toContain("TIDEGATE_TOKEN");
    expect(without.stderr).toContain("wants a token");
    const wrong = await tidegate("audit", { env: { TIDEGATE_TOKEN: "wrong" } });
    expect(wrong.code).toBe(4);
    expect(wrong.stderr).toContain("does not take this token");
    expect((await tidegate("audit", { env: { TIDEGATE_TOKEN: "hush" } })).code).toBe(0);
    expect((await tidegate("audit --token hush")).code).toBe(0);
    expect((await tidegate(["audit", "--token", "a\nb"])).code).toBe(2);
  });

  it.each([
    ["another program", (res: ServerResponse) => res.end("<html>"), 4],
    ["one that sends elsewhere", (res: ServerResponse) => res.writeHead(302, { Location: "/" }).end(), 3],
    ["one that hangs up", (res: ServerResponse) => res.destroy(), 3],
    [
      "one that cuts its answer",
      (res: ServerResponse) => res.writeHead(200, { "Content-Length": "9" }).write("[", () => res.destroy()),
      3,
    ],
  ])("that is %s is an error with words", async (_name, handle, expected) => {
    const url = await listening((_req, res) => void handle(res));
    const { code, stderr } = await tidegate(["audit", "--url", url]);
    expect(code).toBe(expected);
    expect(stderr).toContain(url);
  });

  it("that gives no answer in time is not said to be missing, and a change may still be made", async () => {
    const url = await listening(() => {});
    const spy = vi
      .spyOn(AbortSignal, "timeout")
      .mockReturnValue(AbortSignal.abort(new DOMException("late", "TimeoutError")));
    onTestFinished(() => spy.mockRestore());
    const { code, stderr } = await tidegate(["customer", "tier", "42", "pro", "--url", url]);
    expect(code).toBe(3);
    expect(stderr).toContain(`${url} gave no answer within 10 s.`);
    expect(stderr).toContain("look before you ask again");
    expect(stderr).not.toContain("tidegate start");
  });

  it.each(["ftp://x", "nonsense", "http://user:pass@127.0.0.1:1"])("can not be at %s", async (url) => {
    expect((await tidegate(["audit", "--url", url])).code).toBe(2);
  });
});

describe("as a process", () => {
  const main = fileURLToPath(new URL("../../packages/tidegate-server/src/cli/main.ts", import.meta.url));
  const tsconfig = fileURLToPath(new URL("../../tsconfig.test.json", import.meta.url));
  const shell = async (line: string): Promise<{ code: number; stdout: string; stderr: string }> => {
    const child = spawn(
      "bash",
      ["-c", `set -o pipefail; tidegate() { "${process.execPath}" --import tsx "${main}" "$@"; }; ${line}`],
      {
        env: { ...process.env, TSX_TSCONFIG_PATH: tsconfig },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { code, stdout, stderr };
  };

  it("it ends with the code, and a reader that has seen enough is no mistake", async () => {
    const [asked, cut] = await Promise.all([
      shell(`tidegate list remove blocklist 203.0.113.7 --url ${nobody}`),
      shell("tidegate schema | head -1"),
    ]);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("--yes");
    expect(cut).toEqual({ code: 0, stdout: "{\n", stderr: "" });
  });

  it("a server's last line says that it has ended, and a flag that can not be used is not a file's fault", async () => {
    const cwd = temporaryFolder();
    const start = (...args: string[]) =>
      spawn(process.execPath, ["--import", import.meta.resolve("tsx"), main, "start", ...args], {
        cwd,
        env: { ...process.env, TSX_TSCONFIG_PATH: tsconfig },
        stdio: ["ignore", "pipe", "pipe"],
      });
    const bad = start("--upstream", "localhost:3100");
    const served = start(...["--listen", "--admin", "--decide"].flatMap((flag) => [flag, "127.0.0.1:0"]));
    onTestFinished(() => void served.kill("SIGKILL"));
    let said = "";
    served.stdout.on("data", (part) => {
      said += part;
      if (String(said).includes("Ctrl-C stops it.")) served.kill("SIGTERM");
    });
    const [why, [badCode], [code]] = await Promise.all([
      text(bad.stderr),
      once(bad, "close"),
      once(served, "close"),
    ]);
    expect([badCode, code]).toEqual([2, 0]);
    expect(why).toMatch(/^tidegate: The command line can not be used: 1 problem\.\n\n--upstream\n/);
    expect(JSON.parse(said.trimEnd().split("\n").at(-1) as string)).toMatchObject({ msg: "ended" });
  });
});

describe("on a terminal", () => {
  const hostile = `${esc}]0;owned\u0007${esc}[2J\u009b31m\u202eevil\r\n\u2028x`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const dangerous = /[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202e\u2028]/;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of our own
  const colours = /\u001b\[(?:0|1|2|31|32|33)m/g;

  it("what a stranger wrote can not move the cursor, colour, or hide, in words and in JSON", async () => {
    const entry = { address: hostile, who: hostile, why: hostile, until: 1 };
    const url = await listening((req, res) => {
      const answers: Record<string, unknown> = {
        "/v1/audit": {
          entries: [{ id: 1, at: 0, who: hostile, what: hostile, target: hostile, why: hostile }],
        },
        "/v1/busiest": { clients: [{ key: hostile, count: 1, error: 0, refused: 0 }] },
        "/v1/lists/blocklist": { list: "blocklist", entries: [entry], fromPolicy: [hostile] },
        "/v1/explain": {
          allowed: false,
          reason: hostile,
          words: hostile,
          listed: entry,
          rules: [{ rule: hostile, applies: true, words: hostile, verdicts: [] }],
        },
        "/v1/customers/1": { id: hostile, tier: hostile, limits: { 60: hostile } },
        "/v1/policy": {
          status: { version: 1, problem: hostile },
          version: { id: 1, text: hostile, who: hostile, at: 0, source: hostile, why: hostile },
        },
        "/v1/policy/versions": { versions: [{ id: 1, who: hostile, at: 0, source: hostile, why: hostile }] },
      };
      const body = answers[(req.url as string).split("?")[0] as string];
      res
        .writeHead(body === undefined ? 404 : 200)
        .end(JSON.stringify(body ?? { title: hostile, detail: hostile, code: hostile }));
    });
    const lines = [
      "audit",
      "top --once",
      "list show blocklist",
      "why 1.2.3.4",
      "client show 1.2.3.4",
      "customer show 1",
      "policy show",
      "policy history",
      "policy show 7",
      "customer show 2",
    ];
    for (const line of lines) {
      for (const more of [[], ["--json"]]) {
        const { stdout, stderr } = await tidegate([...line.split(" "), ...more, "--url", url], {
          isTTY: true,
        });
        const said = (stdout + stderr).replace(colours, "");
        expect(said, line).toContain("evil");
        expect(said.replaceAll("\n", ""), line).not.toMatch(dangerous);
        expect(said, line).not.toContain(esc);
        if (more.length > 0) JSON.parse(stdout || stderr);
      }
    }
  });

  it("colours are shown, and neither in a pipe nor with NO_COLOR", async () => {
    const { tidegate } = await adminRig();
    const line = "why 203.0.113.7";
    expect((await tidegate(line, { isTTY: true })).stdout).toContain(esc);
    expect((await tidegate(line)).stdout).not.toContain(esc);
    expect((await tidegate(line, { isTTY: true, env: { NO_COLOR: "1" } })).stdout).not.toContain(esc);
    expect((await tidegate(line, { isTTY: true, env: { TERM: "dumb" } })).stdout).not.toContain(esc);
  });
});
