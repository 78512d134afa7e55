import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineDiff } from "../../packages/dashboard/src/line-diff.js";
import { wantedOf } from "../../packages/dashboard/src/wanted.js";
import { span, visible } from "../../packages/dashboard/src/words.js";

describe("a difference of lines", () => {
  it("shows what went and what came, in place", () => {
    expect(lineDiff("a\nb\nc\nd", "a\nx\nc\nd\ne").map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "same a",
      "removed b",
      "added x",
      "same c",
      "same d",
      "added e",
    ]);
  });

  it("always holds both texts whole", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 }).map((all) => all.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after);
        const without = (kind: string) =>
          lines
            .filter((line) => line.kind !== kind)
            .map((line) => line.text)
            .join("\n");
        expect([without("added"), without("removed")]).toEqual([before, after]);
      }),
    );
  });
});

describe("who is looked for", () => {
  it.each<[text: string, wanted: ReturnType<typeof wantedOf>]>([
    ["203.0.113.7", { facts: { ip: "203.0.113.7" } }],
    [" 2001:db8::7 ", { facts: { ip: "2001:db8::7" } }],
    ["203.0.113.7 GET /search", { facts: { ip: "203.0.113.7", method: "GET", path: "/search" } }],
    ["ip:203.0.113.7", { facts: { ip: "203.0.113.7" } }],
    ["customer:acme inc.", { facts: { customer: "acme inc." } }],
    ["user:a:b", { facts: { user: "a:b" } }],
    ["account:ann@example.com", { facts: { account: "ann@example.com" } }],
    ["01J9ZK", { decision: "01J9ZK" }],
  ])("%s", (text, wanted) => {
    expect(wantedOf(text)).toEqual(wanted);
  });
});

it("a span has two units at most, and never says less than is left", () => {
  expect([0, 1, 59_001, 61_000, 3_600_000, 604_799_000].map(span)).toEqual([
    "0 s",
    "1 s",
    "1 min",
    "1 min 1 s",
    "1 h",
    "6 d 23 h",
  ]);
});

it("what can not be seen is spelled out", () => {
  expect(visible("a\u202eb\u0000c\u{e0041}é\ud800")).toBe("a\\u202eb\\u0000c\\u{e0041}é\\ud800");
});
