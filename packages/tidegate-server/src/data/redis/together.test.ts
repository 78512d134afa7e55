import { expect, it } from "vitest";
import { together } from "./together.js";

it("those asked for in one turn go in one call, of at most so many, and each gets its own answer", async () => {
  const calls: number[][] = [];
  const double = together<number, number>({
    act: async (items) => {
      calls.push([...items]);
      return items.map((item) => 2 * item);
    },
    most: 3,
  });
  expect(await Promise.all([1, 2, 3, 4].map(double))).toEqual([2, 4, 6, 8]);
  expect(await double(5)).toBe(10);
  expect(calls).toEqual([[1, 2, 3], [4], [5]]);
});

it("those of one call fail together, and no others", async () => {
  const ask = together<number, number>({
    act: async (items) => {
      if (items.includes(1)) throw new Error("no");
      return items;
    },
    most: 2,
  });
  const outcomes = await Promise.allSettled([1, 2, 3].map(ask));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});
