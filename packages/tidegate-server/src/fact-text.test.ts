import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutAccount, cutHost, cutPath, cutText } from "./fact-text.js";

const piece = fc.constantFrom(" ", "/", "/..", "?", "#", "a", "é", "http://a", "\u{1f600}");
const text = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 6 }), fc.nat({ max: 20_000 }), fc.array(piece))
  .map(([unit, times, end]) => unit.join("").repeat(times / unit.length + 1) + end.join(""));

describe("a fact that was cut", () => {
  it.each([cutText, cutHost, cutAccount, cutPath])("is not cut again by whoever hears of it: %o", (cut) => {
    fc.assert(
      fc.property(text, (long) => {
        const once = cut(long);
        expect(once.length).toBeLessThanOrEqual(16_384);
        expect(cut(once)).toBe(once);
      }),
    );
  });

  it("is the path alone, of a target too long for its query or its origin", () => {
    const long = "x".repeat(17_000);
    expect(cutPath(`/login?${long}`)).toBe("/login");
    expect(cutPath(`/login#${long}`)).toBe("/login");
    expect(cutPath(`login?next=http://a/${long}`)).toBe("login");
    expect(cutPath(`http://${long}@a/login`)).toBe("/login");
    expect(cutPath(`/login/${long}?q`)).toMatch(/^\/login\/x+\/\/$/);
  });

  it("is as it was told, unless it was too long", () => {
    for (const told of ["", " ann ", "/a?b#c", "a".repeat(1024)])
      for (const cut of [cutText, cutHost, cutAccount, cutPath]) expect(cut(told)).toBe(told);
  });
});
