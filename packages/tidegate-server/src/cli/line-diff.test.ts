import fc from "fast-check";
import { expect, it } from "vitest";
import { lineDiff } from "./line-diff.js";

it("shows what went and what came, in its place", () => {
  expect(lineDiff("a\nb\nc\nd\n", "a\nc\nx\nd\n")).toEqual([" a", "-b", " c", "+x", " d"]);
  expect(lineDiff("a\n", "a\n")).toEqual([" a"]);
});

it("tells both texts whole, whatever they are", () => {
  const texts = fc.array(fc.constantFrom("a", "b", "c", ""), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = lineDiff(`${before.join("\n")}\n`, `${after.join("\n")}\n`);
      const side = (mark: string) => lines.filter((line) => line[0] !== mark).map((line) => line.slice(1));
      expect(side("+")).toEqual(before);
      expect(side("-")).toEqual(after);
    }),
  );
});
