import { describe, expect, it } from "vitest";
import { parsePolicy } from "./parse-policy.js";
import { withRuleMode } from "./rule-mode.js";

const modesOf = (text: string): Record<string, string> =>
  Object.fromEntries(parsePolicy(text).rules.map(({ name, mode = "enforce" }) => [name, mode]));

const rows: readonly [what: string, text: string, rule: string, after: string][] = [
  [
    "a rule on one line",
    "rules: # ours\n  - { name: req/ip, by: ip, limits: [1 per hour] } # strict\n",
    "req/ip",
    "rules: # ours\n  - { name: req/ip, mode: off, by: ip, limits: [1 per hour] } # strict\n",
  ],
  [
    "a rule on several lines, with a comment behind its name",
    "rules:\n  - name: a # the first\n    by: ip\n    limits: 1 per hour\n  # the second\n  - name: b\n    by: ip\n    limits: 1 per hour\n",
    "a",
    "rules:\n  - name: a # the first\n    mode: off\n    by: ip\n    limits: 1 per hour\n  # the second\n  - name: b\n    by: ip\n    limits: 1 per hour\n",
  ],
  [
    "a mode that is there, in quotes",
    "rules:\n  - by: ip\n    mode: 'shadow' # for now\n    limits: 1 per hour\n    name: a\n",
    "a",
    "rules:\n  - by: ip\n    mode: off # for now\n    limits: 1 per hour\n    name: a\n",
  ],
  [
    "the last line without an end",
    "rules:\n- by: ip\n  limits: 1 per hour\n  name: a",
    "a",
    "rules:\n- by: ip\n  limits: 1 per hour\n  name: a\n  mode: off",
  ],
  [
    "a name on a line of its own",
    "rules:\n  - name: >-\n      a\n    by: ip\n    limits: 1 per hour\n",
    "a",
    "rules:\n  - mode: off\n    name: >-\n      a\n    by: ip\n    limits: 1 per hour\n",
  ],
  [
    "one rule of a login",
    "rules:\n  - login: { only: POST /in } # people\n",
    "login/account",
    "rules:\n  - login: { only: POST /in, mode: { account: off } } # people\n",
  ],
  [
    "one rule of a login without options",
    "rules:\n  - login: {}\n",
    "login/ip",
    "rules:\n  - login: { mode: { ip: off } }\n",
  ],
  [
    "one rule of a login whose rules have one mode",
    "rules:\n  - login: { name: in, mode: shadow }\n",
    "in/pair",
    "rules:\n  - login: { name: in, mode: { pair: off, ip: shadow, account: shadow } }\n",
  ],
  [
    "one rule of a login whose rules have modes",
    "rules:\n  - login:\n      mode:\n        ip: shadow # new\n",
    "login/ip",
    "rules:\n  - login:\n      mode:\n        ip: off # new\n",
  ],
];

describe("another mode for one rule", () => {
  it.each(rows)("%s: nothing else in the text is touched", (_, text, rule, after) => {
    expect(withRuleMode(text, rule, "off")).toBe(after);
    const before = modesOf(text);
    expect(modesOf(after)).toEqual({ ...before, [rule]: "off" });
  });

  it("and back again", () => {
    for (const [, text, rule] of rows) {
      const off = withRuleMode(text, rule, "off") as string;
      const back = withRuleMode(off, rule, "enforce") as string;
      expect(modesOf(back)).toEqual({ ...modesOf(text), [rule]: "enforce" });
      expect(withRuleMode(back, rule, "enforce")).toBe(back);
    }
  });

  it("what is so already stays as it is written", () => {
    const text = "rules: [{ name: a, by: ip, limits: 1 per hour }]\n";
    expect(withRuleMode(text, "a", "enforce")).toBe(text);
  });

  it("where others refer to it, what they refer to is written out, and they stay as they were", () => {
    const text =
      "# kept\nrules:\n  - { name: a, by: ip, limits: &l [1 per hour], mode: &m shadow }\n  - { name: b, by: ip, limits: *l, mode: *m } # too\n";
    const after = withRuleMode(text, "a", "off") as string;
    expect(modesOf(after)).toEqual({ a: "off", b: "shadow" });
    expect(after).toContain("# kept");
    expect(after).toContain("# too");
  });

  it("a rule there is none of, and a text that is none, are told apart from a change", () => {
    expect(withRuleMode("rules: []\n", "a", "off")).toBeUndefined();
    expect(withRuleMode("tiers: {}\n", "a", "off")).toBeUndefined();
    expect(withRuleMode("{", "a", "off")).toBeUndefined();
  });

  it("names with every character a name may have are found", () => {
    for (const name of ['a"b', "<b>", "a: b", "#x", "a\\\\b"]) {
      const text = `rules:\n  - name: ${JSON.stringify(name)}\n    by: ip\n    limits: 1 per hour\n`;
      expect(modesOf(withRuleMode(text, name, "shadow") as string)).toEqual({ [name]: "shadow" });
    }
  });
});
