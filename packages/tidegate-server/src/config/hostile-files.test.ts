import { describe, expect, it } from "vitest";
import { ConfigFileError, type ConfigProblem, problemsOf } from "./config-file-error.js";
import { parsePolicy } from "./parse-policy.js";
import { mostBytes, sourceOf } from "./source.js";

function refusal(act: () => unknown): {
  code: string | undefined;
  message: string;
  line: number | undefined;
  problems: readonly ConfigProblem[];
} {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigFileError);
    const problems = problemsOf(error);
    const [first] = problems;
    expect((error as Error).message.length).toBeLessThan(60_000);
    return { code: first?.code, message: first?.message ?? "", line: first?.line, problems };
  }
  throw new Error("nothing was refused");
}

const megabyte = 1_000_000;
const fill = (unit: string) => unit.repeat(Math.floor(megabyte / unit.length));

describe("a file made to exhaust the reader is refused", () => {
  it.each([
    ["larger than a megabyte", "#".repeat(mostBytes + 1)],
    ["brackets within brackets", fill("[")],
    ["braces within braces", fill("{a: ")],
    ["lists within lists on one line", fill("- ")],
    ["keys of keys", fill("? ")],
    ["an ever deeper staircase", Array.from({ length: 1300 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
    ["a key for every line", Array.from({ length: 100_000 }, (_, i) => `k${i}:`).join("\n")],
    ["a long list", `safelist:\n${"- 10.0.0.1\n".repeat(80_000)}`],
    ["empty flow lists", `a: [${fill("[],")}]`],
    ["unclosed quotes", fill('"\n')],
    ["anchors", fill("&a ")],
    ["aliases", `a: &a 1\nb: [${fill("*a,")}]`],
    ["aliases, a few too many", `a: &a 1\nb: [${"*a,".repeat(100)}]`],
  ])("%s", (_, text) => {
    expect(refusal(() => parsePolicy(text)).code).toBe("TG_CONFIG_LARGE");
  });

  it.each([
    ["documents", fill("---\n")],
    ["a literal block", fill("|\n")],
    ["directives", fill("%a\n")],
    ["one long word", fill("a")],
    ["words on lines", fill("a\n")],
    ["single quotes", fill("'")],
    ["commas", fill(",")],
    ["tabs", fill("\t")],
    ["line ends", fill("\r\n")],
    ["as many keys as are read", Array.from({ length: 40_000 }, (_, i) => `k${i}: 1`).join("\n")],
    ["as many unknown entries as are read", `rules: [${"{},".repeat(40_000)}]`],
    ["as many addresses as are read, none of them one", `rules: []\nsafelist: [${"x,".repeat(50_000)}]`],
    [
      "many wrong rules beside many addresses",
      `rules: [${wrongRules(300)}]\nsafelist: [${Array.from({ length: 30_000 }, (_, i) => `20.0.${i >> 8}.${i & 255}`)}]`,
    ],
    ["more rules than anybody writes", `rules: [${wrongRules(7_000)}]`],
  ])("%s, and nothing hangs", (_, text) => {
    expect(refusal(() => parsePolicy(text)).code).toMatch(/^TG_/);
  });

  it("nothing but errors costs no more than a list of that length", () => {
    const cost = (text: string): number => {
      const { user } = process.cpuUsage();
      refusal(() => parsePolicy(text));
      return process.cpuUsage().user - user;
    };
    const least = (text: string): number => Math.min(...Array.from({ length: 3 }, () => cost(text)));
    const list = least(`- ${"x\n- ".repeat(60_000)}`);
    expect(least(`a: ${'"'.repeat(400_000)}`)).toBeLessThan(3 * list);
    expect(least("&a ".repeat(133_000))).toBeLessThan(3 * list);
  });

  it("aliases of aliases, whose sum is beyond all memory", () => {
    const lines = ["a0: &a0 [x, x]"];
    for (let i = 1; i <= 25; i++) lines.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`);
    expect(refusal(() => parsePolicy(lines.join("\n"))).code).toBe("TG_CONFIG_LARGE");
  });

  it("an alias of itself", () => {
    expect(refusal(() => parsePolicy("rules: &a [*a]\n")).code).toMatch(/^TG_CONFIG_(?:LARGE|YAML)$/);
  });
});

function wrongRules(count: number): string {
  return Array.from({ length: count }, (_, i) => `{name: r${i}, by: ip, limits: [0 per 1m]}`).join();
}

describe("what would surprise is refused", () => {
  it.each([
    ["", "TG_CONFIG_EMPTY", undefined],
    ["   \n# nothing but a comment\n", "TG_CONFIG_EMPTY", undefined],
    ["~\n", "TG_CONFIG_EMPTY", undefined],
    ["---\n", "TG_CONFIG_EMPTY", undefined],
    ["- a\n- b\n", "TG_CONFIG_VALUE", "a list"],
    ["just a text\n", "TG_CONFIG_VALUE", "a single value"],
    ["rules: []\n---\nrules: []\n", "TG_CONFIG_YAML", "second document"],
    ["rules: []\n...\nrules: []\n", "TG_CONFIG_YAML", undefined],
    ["rules: []\nrules: []\n", "TG_CONFIG_KEY_TWICE", '"rules" is there twice'],
    ["rules: [{ name: a, name: b, by: ip, limits: [1/s] }]", "TG_CONFIG_KEY_TWICE", '"name"'],
    ["rules:\n\t- a\n", "TG_CONFIG_YAML", "not YAML"],
    ["rules: [\n", "TG_CONFIG_YAML", undefined],
    ['rules: "\n', "TG_CONFIG_YAML", undefined],
    ["rules: !!js/function 'x'\n", "TG_CONFIG_YAML", "tag"],
    ["rules: !custom []\n", "TG_CONFIG_YAML", "tag"],
    ["mode: !!str enforce\n", "TG_CONFIG_YAML", "tag"],
    ["!!map { rules: [] }\n", "TG_CONFIG_YAML", "tag"],
    ["a: &x { rules: [] }\n<<: *x\n", "TG_CONFIG_YAML", "Merge"],
    ["%YAML 1.1\n---\nrules: []\n", "TG_CONFIG_YAML", "another version"],
    ["rules: *nothing\n", "TG_CONFIG_YAML", undefined],
    ["? [a, b]\n: c\n", "TG_CONFIG_YAML", undefined],
    ["__proto__: { rules: [] }\n", "TG_CONFIG_KEY", "can name nothing"],
    ["tiers: { constructor: [1/s] }\n", "TG_CONFIG_KEY", "can name nothing"],
    ["rules: [{ __proto__: { by: ip }, name: a, limits: [1/s] }]\n", "TG_CONFIG_KEY", "can name nothing"],
    ["rules: []\u0000\n", "TG_CONFIG_ENCODING", "U+0000"],
    ["rules: []\u001b[2J\n", "TG_CONFIG_ENCODING", "U+001B"],
    ["mode: \ud800\n", "TG_CONFIG_ENCODING", "U+D800"],
  ])("%j", (text, code, message) => {
    const refused = refusal(() => parsePolicy(text));
    expect(refused.code).toBe(code);
    if (message !== undefined) expect(refused.message).toContain(message);
  });

  it("nothing gets into every object there is", () => {
    refusal(() =>
      parsePolicy('"__proto__": { polluted: true }\nconstructor: { prototype: { polluted: true } }\n'),
    );
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("names that every object has are names like others", () => {
    const policy = parsePolicy(
      "rules: [{ name: toString, by: ip, limits: [1/s] }]\ntiers: { hasOwnProperty: [1/s] }",
    );
    expect(Object.keys(policy.tiers ?? {})).toEqual(["hasOwnProperty"]);
    expect(refusal(() => parsePolicy("toString: 1\n")).code).toBe("TG_CONFIG_KEY");
  });

  it.each([
    ["rules:\n  - name: a\n   by: ip\n    limits: [1/s]\n", 3],
    ["rules:\n  - name: a\n    by: ip\n      limits: [1/s]\n", 3],
    ["rules:\n  - name: a\n    by: ip\n  limits: [1/s]\n", 4],
    [" mode: enforce\nrules: []\n", 2],
    ["mode: enforce\n rules: []\n", 1],
    ["rules:\n  - { name: a }\n - { name: b }\n", 3],
    ["tiers:\n  free: [1/s]\n pro: [2/s]\n", 3],
  ])("a slip of the indentation is told as one, and once: %j", (text, line) => {
    const { problems } = refusal(() => parsePolicy(text));
    expect(problems).toMatchObject([{ code: "TG_CONFIG_YAML", line }]);
    expect(problems[0]?.help).toMatch(/^Give everything of one map or list the same indentation/);
  });

  it.each([
    ["mode: a: b\n", "Put quotes"],
    ['mode: "a" b\n', "Put quotes"],
    ["safelist: [a\nmode: off\n", "Close what was opened"],
  ])("other slips are not: %j", (text, help) => {
    expect(refusal(() => parsePolicy(text)).problems[0]?.help).toContain(help);
  });

  it("YAML 1.1's words for yes and no are texts", () => {
    expect(
      refusal(() => parsePolicy("rules: [{ name: a, by: ip, limits: [1/s], expose: no }]")).message,
    ).toContain('"no"');
    expect(parsePolicy("mode: off\nrules: []\n").mode).toBe("off");
  });
});

describe("an encoding", () => {
  it("is UTF-8, with or without a mark at the beginning", () => {
    expect(sourceOf("x", Buffer.from("\ufeffrules: []\n")).text).toBe("rules: []\n");
    expect(parsePolicy("\ufeffrules: []\n")).toEqual({ rules: [] });
    expect(refusal(() => sourceOf("x", Buffer.from([0x61, 0xff, 0xfe])))).toMatchObject({
      code: "TG_CONFIG_ENCODING",
      message: "It is not valid UTF-8.",
    });
    expect(refusal(() => sourceOf("x", Buffer.from("\ufeffa: b", "utf16le"))).message).toContain("UTF-16");
  });

  it("has lines that end in any way", () => {
    for (const end of ["\n", "\r\n", "\r"])
      expect(refusal(() => parsePolicy(["rules: []", "mode: x", ""].join(end))).line).toBe(2);
  });
});

it("messages show no character that moves a cursor or turns writing round", () => {
  try {
    parsePolicy("rules: []\nmode: '\u202e\u2028\u009b'\n'\u202ekey': 1\n");
  } catch (error) {
    expect((error as Error).message).not.toMatch(/[\u202e\u2028\u009b]/);
    return;
  }
  expect.unreachable();
});
