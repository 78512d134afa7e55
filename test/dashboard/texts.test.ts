import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineDiff } from "../../packages/dashboard/src/line-diff.js";
import { rateAgainst } from "../../packages/dashboard/src/rate-against.js";
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
    ["203.0.113.0/24", { within: "203.0.113.0/24" }],
    ["2001:db8::/32", { within: "2001:db8::/32" }],
    ["203.0.113.7 /24", { facts: { ip: "203.0.113.7", path: "/24" } }],
    ["AB".repeat(32), { key: "ab".repeat(32) }],
    ["0".repeat(40), { key: "0".repeat(40) }],
    [`decision:${"0".repeat(40)}`, { decision: "0".repeat(40) }],
    [`customer:${"0".repeat(40)}`, { facts: { customer: "0".repeat(40) } }],
    ["01J9ZK", { decision: "01J9ZK" }],
  ])("%s", (text, wanted) => {
    expect(wantedOf(text)).toEqual(wanted);
  });
});

describe("a rate against a limit", () => {
  const seconds = { from: 1_000, stepMs: 1_000, requests: [1, 2, 3, 4], refused: [0, 0, 1, 1] };

  it("is summed over the limit's own window, so that both can be compared", () => {
    expect(rateAgainst(seconds, { limit: 5, windowMs: 2_000 })).toEqual({
      times: [1_000, 2_000, 3_000, 4_000],
      stepMs: 2_000,
      requests: [1, 3, 5, 7],
      refused: [0, 0, 1, 2],
      against: 5,
    });
  });

  it("is of a minute where the window is longer, and the limit's share of it", () => {
    expect(rateAgainst(seconds, { limit: 60, windowMs: 3_600_000 })).toMatchObject({
      stepMs: 60_000,
      requests: [1, 3, 6, 10],
      against: 1,
    });
    expect(rateAgainst(seconds, undefined)).toMatchObject({ stepMs: 60_000, against: undefined });
    expect(rateAgainst(seconds, { limit: 5, windowMs: 100 })).toMatchObject({ stepMs: 1_000, against: 50 });
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
