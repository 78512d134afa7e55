import { createGate, type Limit, memoryStore, type RuleOptions } from "tidegate";
import { subjectOf, virtualClock } from "tidegate/testing";
import { describe, expect, it } from "vitest";
import { ConfigFileError, type ConfigProblem, problemsOf } from "./config-file-error.js";
import { parsePolicy } from "./parse-policy.js";

function problems(text: string): readonly ConfigProblem[] {
  try {
    parsePolicy(text);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigFileError);
    return problemsOf(error);
  }
  return [];
}

it("of a rule whose only limit is wrong, whom it counts is looked at too", () => {
  const text = "rules:\n  - { name: a, by: ipx, limits: [100 per minut] }\n";
  expect(problems(text).map(({ path }) => path)).toEqual(["rules[0].by", "rules[0].limits[0]"]);
});

describe("a policy's text", () => {
  it("becomes the library's policy", () => {
    const policy = parsePolicy(`
mode: shadow
rules:
  - name: req/ip
    only: [/api, { method: [GET, POST], path: /x, host: "*.example.com" }]
    except: GET /api/health
    by: [ip, account]
    limits: [300 per 5m, 10/day]
    cost: 2
    mode: enforce
    count: successes
    hold: { after: 100, within: 1h, for: [1m, 5m], forget: 1d, everywhere: true }
    expose: false
    onStoreFailure: deny
    edges: [cdn]
  - { name: slow, by: "header:x-tenant", limits: 5 per second, action: delay, maxDelay: 2s, clearOnSuccess: true }
  - { name: known, by: account, limits: [1/s], trust: { by: [ip, account], for: 30d } }
  - { name: tiers, by: customer, limits: tier }
tiers: { free: [100 per hour], "pro.plus": [{ tokenBucket: { rate: 10 per second, burst: 20 } }] }
defaultTier: free
safelist: [10.0.0.0/8]
blocklist: [203.0.113.7]
`);
    expect(policy).toMatchObject({
      mode: "shadow",
      rules: [
        {
          name: "req/ip",
          only: ["/api", { method: ["GET", "POST"], path: "/x", host: "*.example.com" }],
          except: "GET /api/health",
          by: ["ip", "account"],
          limits: ["300 per 5m", "10/day"],
          cost: 2,
          hold: { after: 100, within: "1h", for: ["1m", "5m"], forget: "1d", everywhere: true },
          edges: ["cdn"],
        },
        { name: "slow", limits: ["5 per second"], action: "delay", maxDelay: "2s" },
        { name: "known", trust: { by: ["ip", "account"], for: "30d" } },
        { name: "tiers", limits: "tier" },
      ],
      tiers: { free: ["100 per hour"], "pro.plus": [{ kind: "token-bucket", limit: 20 }] },
      defaultTier: "free",
      safelist: ["10.0.0.0/8"],
      blocklist: ["203.0.113.7"],
    });
  });

  it.each([
    ["fixedWindow: { limit: 5, window: 1m, align: first-hit, countRefused: true }", "fixed-window"],
    ["fixedWindow: { limit: 5, window: 1d, offset: 8h }", "fixed-window"],
    ["fixedWindow: { limit: 5, window: 1d, offset: 0 }", "fixed-window"],
    ["slidingLog: { limit: 5, window: 1m, encoding: list }", "sliding-log-list"],
    ["slidingCounter: { limit: 5, window: 1m }", "sliding-counter"],
    ["tokenBucket: { rate: 5, per: 1m, burst: 5 }", "token-bucket"],
    ["earrrl: { rate: 30 per minute, halfLife: 1m, overage: 0.5 }", "earrrl"],
    ["earrrl: { rate: 0.5, halfLife: 1m }", "earrrl"],
    ["concurrency: { limit: 5, leaseFor: 1m }", "concurrency"],
  ])("knows the limit %s", (text, kind) => {
    const [rule] = parsePolicy(`rules: [{ name: a, by: ip, limits: [{ ${text} }] }]`).rules;
    expect(((rule as RuleOptions).limits as Limit[]).map((limit) => limit.kind)).toEqual([kind]);
  });

  it("spreads a backoff into its levels, alone or among others", () => {
    const backoff = "{ backoff: { levels: 3, limit: 20, base: 8 } }";
    for (const limits of [backoff, `[${backoff}]`, `[1 per day, ${backoff}]`]) {
      const [rule] = parsePolicy(`rules: [{ name: a, by: ip, limits: ${limits} }]`).rules;
      const made = ((rule as RuleOptions).limits as (Limit | string)[]).filter(
        (one) => typeof one === "object",
      );
      expect(made.map((one) => [one.limit, one.windowMs])).toEqual([
        [20, 8_000],
        [40, 64_000],
        [60, 512_000],
      ]);
    }
  });

  it("spreads a login into the library's three rules", () => {
    const { rules } = parsePolicy("rules: [{ login: { only: POST /session, name: in, pair: [2 per 1m] } }]");
    expect(rules.map(({ name, only, count }) => [name, only, count])).toEqual([
      ["in/pair", "POST /session", "failures"],
      ["in/ip", "POST /session", "failures"],
      ["in/account", "POST /session", "failures"],
    ]);
    expect(rules[0]?.limits).toEqual(["2 per 1m"]);
    expect(parsePolicy("rules:\n  - login: {}\n").rules).toHaveLength(3);
  });

  it("is what a gate then judges by", async () => {
    const policy = parsePolicy(
      "rules:\n  - { name: a, by: ip, limits: [2 per minute] }\nsafelist: [10.0.0.0/8]\n",
    );
    const gate = createGate({ ...policy, store: memoryStore({ clock: virtualClock(0) }) });
    const allowed = async (ip: string) => (await gate.decide(subjectOf(ip))).allowed;
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await allowed("203.0.113.7"), await allowed("10.0.0.1"));
    expect(answers).toEqual([true, true, true, true, false, true]);
    await gate.close();
  });

  it("may refuse rules that look at the answer, and warn", () => {
    const text = "rules:\n  - { name: a, by: user, limits: [1/s], count: failures }\n";
    const warnings: ConfigProblem[] = [];
    parsePolicy(text, { onWarning: (warning) => warnings.push(warning) });
    expect(warnings).toMatchObject([{ code: "TG_STRANGERS_FREE", line: 2, path: "rules[0]" }]);
    expect(() => parsePolicy(text, { canFinish: false })).toThrow("TG_RULE_FINISH");
  });
});

describe("a rule", () => {
  it("with several wrong limits is told all of them", () => {
    const text = "rules:\n  - { name: a, by: ip, limits: [1 pr s, 5 per 10 minutes, often, 0.5 per 0s] }\n";
    expect(problems(text).map(({ code, path }) => [code, path])).toEqual([
      ["TG_RATE", "rules[0].limits[0]"],
      ["TG_RATE", "rules[0].limits[2]"],
      ["TG_RATE", "rules[0].limits[3]"],
    ]);
  });
});

describe("what the library objects to is found at its line and column", () => {
  const rule = (text: string) => `rules:\n  - { name: ok, by: ip, limits: [1/s] }\n  - ${text}\n`;

  it.each<[text: string, code: string, path: string, at: string]>([
    [rule("{ name: a, by: ipp, limits: [1/s] }"), "TG_BY", "rules[1].by", "ipp"],
    [rule("{ name: a, by: [ip, 'x:y'], limits: [1/s] }"), "TG_BY", "rules[1].by[1]", "'x:y'"],
    [
      rule("{ name: ok, by: ip, limits: [1/s] }"),
      "TG_RULE_TWICE",
      "rules[1].name",
      "ok, by: ip, limits: [1/s] }\n",
    ],
    [rule("{ name: 'a\u00e9', by: ip, limits: [1/s] }"), "TG_NAME", "rules[1].name", "'a\u00e9'"],
    [rule("{ name: a, by: ip, limits: [1/s, 1 pr s] }"), "TG_RATE", "rules[1].limits[1]", "1 pr s"],
    [rule("{ name: a, by: ip, limits: 1 pr s }"), "TG_RATE", "rules[1].limits", "1 pr s"],
    [rule("{ name: a, by: ip, limits: [] }"), "TG_LIMITS", "rules[1].limits", "[] }"],
    [rule("{ name: a, by: ip, limits: [1/s, 2/s] }"), "TG_LIMITS_CLASH", "rules[1].limits[1]", "2/s"],
    [
      rule("{ name: a, by: ip, limits: [8/8s, { backoff: { levels: 2, limit: 1, base: 8 } }, 1/64s] }"),
      "TG_LIMITS_CLASH",
      "rules[1].limits[1]",
      "{ backoff",
    ],
    [
      rule("{ name: a, by: ip, limits: [{ backoff: { levels: 2, limit: 1, base: 1 } }] }"),
      "TG_BACKOFF",
      "rules[1].limits[0].backoff.base",
      "1 } }",
    ],
    [
      rule("{ name: a, by: ip, limits: { earrrl: { rate: fast, halfLife: 1m } } }"),
      "TG_RATE",
      "rules[1].limits.earrrl.rate",
      "fast",
    ],
    [
      rule("{ name: a, by: ip, limits: { tokenBucket: { rate: 5, burst: 1 } } }"),
      "TG_RATE",
      "rules[1].limits.tokenBucket.per",
      "tokenBucket",
    ],
    [
      rule("{ name: a, by: ip, limits: { fixedWindow: { limit: 1, window: 1y } } }"),
      "TG_DURATION",
      "rules[1].limits.fixedWindow.window",
      "1y",
    ],
    [rule("{ name: a, by: ip, limits: [{}] }"), "TG_LIMIT", "rules[1].limits[0]", "{}"],
    [
      rule("{ name: a, by: ip, limits: [1/s], hold: { for: [1m, soon] } }"),
      "TG_DURATION",
      "rules[1].hold.for[1]",
      "soon",
    ],
    [
      rule("{ name: a, by: ip, limits: [1/s], hold: { for: 1m, after: 0 } }"),
      "TG_HOLD",
      "rules[1].hold.after",
      "0 } }",
    ],
    [rule("{ name: a, by: ip, limits: [1/s], cost: 0 }"), "TG_COST", "rules[1].cost", "0 }"],
    [rule("{ name: a, by: ip, limits: [1/s], maxDelay: 1s }"), "TG_DELAY", "rules[1].maxDelay", "1s"],
    [rule("{ name: a, by: ip, limits: [1/s], only: api }"), "TG_MATCH", "rules[1].only", "api"],
    [
      rule("{ name: a, by: ip, limits: [1/s], only: [/a, { method: [GET, GO] }] }"),
      "TG_MATCH",
      "rules[1].only[1].method[1]",
      "GO",
    ],
    [
      rule("{ name: a, by: ip, limits: [1/s], only: /a/b, except: /a }"),
      "TG_MATCH_NOTHING",
      "rules[1].except",
      "/a }",
    ],
    [rule("{ name: a, by: ip, limits: tier }"), "TG_TIER_UNKNOWN", "rules[1].limits", "tier"],
    [
      rule(
        "{ name: a, by: ip, limits: [{ slidingLog: { limit: 5, window: 1m, encoding: list } }], cost: 2 }",
      ),
      "TG_ENCODING",
      "rules[1]",
      "{ name: a",
    ],
    [rule("login: { only: login }"), "TG_MATCH", "rules[1].login.only", "login }"],
    [rule("login: { account: [1/s, often] }"), "TG_RATE", "rules[1].login.account[1]", "often"],
    [rule("login: { trustFor: ever }"), "TG_DURATION", "rules[1].login.trustFor", "ever"],
    ["rules: []\ntiers: { a.b: [1/s, x] }", "TG_RATE", `tiers["a.b"][1]`, "x]"],
    ["rules: []\ntiers: { a: [] }", "TG_LIMITS", "tiers.a", "[] }"],
    ["rules: []\ntiers: { override: [1/s] }", "TG_TIER_NAME", "tiers.override", "[1/s]"],
    ["rules: []\ntiers: { a: [1/s] }\ndefaultTier: b", "TG_TIER_UNKNOWN", "defaultTier", "b"],
    ["rules: []\nblocklist:\n  - 1.2.3.4\n  - 1.2.3\n", "TG_LIST_ADDRESS", "blocklist[1]", "1.2.3\n"],
  ])("%s", (text, code, path, at) => {
    const found = problems(text);
    expect(found.map((one) => [one.code, one.path])).toEqual([[code, path]]);
    const offset = text.lastIndexOf(at);
    const before = text.slice(0, offset).split("\n");
    const { line, column } = found[0] as ConfigProblem;
    expect([line, column]).toEqual([before.length, (before.at(-1) as string).length + 1]);
  });

  it("says of a tier with a bare rate that a list is meant", () => {
    const [found] = problems("rules: []\ntiers: { free: 5 per hour }");
    expect(found).toMatchObject({
      path: "tiers.free",
      message: '"5 per hour" can not be used here.',
      help: "Write a list, of one limit too: [100 per hour].",
    });
  });

  it("advises no functions, which no file can have", () => {
    for (const text of [
      rule("{ name: a, by: x, limits: [1/s] }"),
      rule("{ name: a, by: ip, limits: [1/s], cost: 0 }"),
      rule("{ name: a, by: ip, limits: [1/s], only: 'GO /' }"),
      rule("{ name: a, by: ip, limits: [1/s], only: {} }"),
    ])
      expect(problems(text)[0]?.help).not.toContain("function");
  });

  it("a policy too large to be judged is refused as a whole", () => {
    const rules = Array.from({ length: 130 }, (_, i) => `  - { name: r${i}, by: ip, limits: [1/s] }`);
    expect(problems(`rules:\n${rules.join("\n")}\n`)).toMatchObject([
      { code: "TG_POLICY_LARGE", path: "rules" },
    ]);
  });

  it("more problems than anybody reads are counted", () => {
    const rules = Array.from({ length: 200 }, (_, i) => `  - { name: r${i}, by: x, limits: [1/s] }`);
    expect(problems(`rules:\n${rules.join("\n")}\n`)).toHaveLength(50);
    expect(() => parsePolicy(`rules:\n${rules.join("\n")}\n`)).toThrow("And 150 more.");
  });
});

it.each([
  ["policy: { rules: [] }", "by itself"],
  ["rules: []\nlisten: {}", "at the top of the file"],
  ["rules: []\nsafe_list: []", "Did you mean safelist?"],
])("says where %j belongs", (text, help) => {
  expect(problems(text)[0]?.help).toContain(help);
});
