import { describe, expect, it } from "vitest";
import { ConfigFileError } from "./config-file-error.js";
import { loadText } from "./load-config.js";
import { parsePolicy } from "./parse-policy.js";

const app = "upstreams: [{ url: http://127.0.0.1:3000 }]\n";

function textOf(text: string): string {
  return loadText(text, { env: {} }).policyText;
}

describe("the policy's own text", () => {
  it("keeps comments and order, moved to the margin", () => {
    expect(
      textOf(`# the file's
${app}policy:   # the policy's

    # first
    rules:   # these
      # inner
      - name: a   # its name
        by: ip

        limits:
          - 1 per second
# far left
      - { name: b, by: ip,
          limits: [2 per second] }
    # last
    mode: enforce
# of the next section
logs: { level: info }
`),
    ).toBe(`
# first
rules:   # these
  # inner
  - name: a   # its name
    by: ip

    limits:
      - 1 per second
# far left
  - { name: b, by: ip,
      limits: [2 per second] }
# last
mode: enforce
`);
  });

  it.each([
    ["on one line", `policy: { mode: off, rules: [{ name: a, by: ip, limits: [1/s] }] }\n${app}`],
    ["on several lines of one map", `policy: {\n  mode: off,\n    rules: [\n ] }\n${app}`],
    [
      "the last in the file, without an end of line",
      `${app}policy:\n  rules:\n  - { name: a, by: ip, limits: [1/s] }`,
    ],
    [
      "with Windows' ends of lines",
      `${app}policy:\r\n  mode: off\r\n  rules:\r\n    - { name: a, by: ip, limits: [1/s] }\r\n`,
    ],
    [
      "with folded and literal texts",
      `${app}policy:\n    rules:\n    - name: >-\n        a\n        b\n      by: ip\n      limits:\n      - |-\n        1/s\n      only: "/a\n        b"\n`.replace(
        '\n      only: "/a\n        b"',
        "",
      ),
    ],
    [
      "with aliases of its own",
      `${app}policy:\n  rules: [{ name: a, by: ip, limits: &l [1/s] }, { name: b, by: ip, limits: *l }]\n`,
    ],
    ["in a document with a beginning and an end", `---\n${app}policy:\n  rules: []\n...\n`],
    [
      "with one key to the line, one blank in",
      `${app}policy:\n rules:\n - name: a\n   by: ip\n   limits: 1/s\n`,
    ],
    [
      "within braces",
      `{ upstreams: [{ url: "http://x" }], policy: { rules: [{ name: a, by: ip, limits: [1/s] }] } }`,
    ],
  ])("%s reads back to the same", (_, text) => {
    const loaded = loadText(text, { env: {} });
    const again = loadText(`${app}policy:\n${loaded.policyText.replace(/^/gm, "  ")}`, { env: {} });
    expect(JSON.stringify(parsePolicy(again.policyText))).toBe(
      JSON.stringify(parsePolicy(loaded.policyText)),
    );
    expect(parsePolicy(loaded.policyText).rules.every(({ name }) => typeof name === "string")).toBe(true);
    expect(loaded.policyText).not.toContain("\r");
  });

  it("is the same for the same policy, whatever changes around it", () => {
    const policy = "policy:\n  rules: [{ name: a, by: ip, limits: [1/s] }]\n";
    expect(textOf(app + policy)).toBe(textOf(`${policy}drain: 1s\n${app}`));
  });

  it("stands alone: what it refers to outside is refused", () => {
    const text = `${app}trustedProxies: &p [10.0.0.0/8]\npolicy: { rules: [], safelist: *p }\n`;
    expect(() => textOf(text)).toThrow(ConfigFileError);
    expect(() => textOf(text)).toThrow("outside of it");
    expect(() => textOf(`${app}edges: &e {}\npolicy: *e\n`)).toThrow("outside of it");
  });
});
