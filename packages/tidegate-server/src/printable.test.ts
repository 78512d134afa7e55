import fc from "fast-check";
import { expect, it } from "vitest";
import { printable, printableJson, printableLines, printableStart } from "./printable.js";

/** Any code points, halves of pairs too. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0x10ffff }), fc.integer({ min: 0, max: 0x20ff })), {
    maxLength: 20,
  })
  .map((points) => String.fromCodePoint(...points));

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

it("whatever is given, nothing unseen is left, and a line stays a line", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(printable(text)).not.toMatch(unseen);
      expect(printableLines(text).replace(/[\n\t]/g, "")).not.toMatch(unseen);
    }),
  );
});

it("JSON stays the same JSON", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const json = printableJson(JSON.stringify({ text }));
      expect(json.replaceAll("\n", "")).not.toMatch(unseen);
      expect(JSON.parse(json)).toEqual({ text });
    }),
  );
});

it("what people write is left alone", () => {
  expect(printable("Grüße, 世界! 🎉")).toBe("Grüße, 世界! 🎉");
  expect(printable("\u001b[31m")).toBe("\\u001b[31m");
});

it("a text too long is cut, and says how long it was", () => {
  expect(printableStart("abcdef", 3)).toBe("abc… (6)");
});
