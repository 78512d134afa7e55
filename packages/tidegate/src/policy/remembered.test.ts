import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyHash } from "../key-hash.js";
import { Remembered } from "./remembered.js";

test("what was kept of a text is found by that text alone, whatever else was kept", () => {
  const texts = fc.uniqueArray(fc.string({ unit: "binary", maxLength: 12 }), { maxLength: 300 });
  fc.assert(
    fc.property(texts, (all) => {
      const remembered = new Remembered<{ text: string }>(1_000);
      for (const text of all) {
        expect(remembered.get(text)).toBeUndefined();
        remembered.keep({ text });
      }
      for (const text of all) expect(remembered.get(text)?.text).toBe(text);
    }),
    { seed: 11 },
  );
});

test("who is asked for stays, the others go, and never more than twice as many are kept as fit", () => {
  const remembered = new Remembered<{ i: number }>(100);
  const ask = (i: number) => {
    if (remembered.get(`text ${i}`) === undefined) remembered.keep({ i });
  };
  ask(-1);
  for (let i = 0; i < 10_000; i++) {
    ask(i);
    expect(remembered.get("text -1")).toEqual({ i: -1 });
  }
  const kept = Array.from({ length: 10_000 }, (_, i) => remembered.get(`text ${i}`) !== undefined);
  expect(kept.filter(Boolean).length).toBeLessThanOrEqual(200);
  expect(kept.slice(9_950)).not.toContain(false);
});

test("what is kept of a text again stands in the place of what was, and is told with all the others", () => {
  const hash = new KeyHash();
  const remembered = new Remembered<{ text: string; nth: number }>(1_000, hash);
  for (const nth of [1, 2]) {
    for (let i = 0; i < 300; i++) {
      const text = `text ${i}`;
      expect(remembered.get(text)?.nth).toBe(nth === 1 ? undefined : 1);
      const { low, high } = hash;
      remembered.get("another");
      remembered.keepAs(low, high, { text, nth });
    }
  }
  const told = [...remembered.values()];
  expect(told).toHaveLength(300);
  expect(new Set(told.map(({ nth }) => nth))).toEqual(new Set([2]));
});
