import { describe, expect, test } from "vitest";
import { tellingLine } from "./telling-line.js";

/** Goes on until nobody is left, and notes when each had its turn. */
function turnsOf(count: number, withinMs: number) {
  const line = tellingLine<number>(withinMs);
  for (let one = 0; one < count; one++) line.stand(one, 0);
  const turns: number[] = [];
  const goes: number[] = [];
  for (let at = 0; line.nextAt() !== undefined; at += 0.5) {
    if (at < (line.nextAt() as number)) continue;
    const due = line.takeDue(at);
    if (due.length > 0) goes.push(due.length);
    for (const one of due) turns[one] = at;
  }
  return { turns, goes };
}

describe("many who came at once", () => {
  test.each([1, 4, 5, 60, 1_000])("have their turn after the time and before twice of it: %d", (count) => {
    const { turns } = turnsOf(count, 200);
    expect(turns).toHaveLength(count);
    expect(Math.min(...turns)).toBe(200);
    expect(Math.max(...turns)).toBeLessThanOrEqual(400);
  });

  test("go eight at a time, and more where there are hundreds", () => {
    expect(turnsOf(60, 200).goes).toEqual([...Array(7).fill(8), 4]);
    expect(turnsOf(1_000, 200).goes[0]).toBe(32);
    expect(Math.max(...turnsOf(10_000, 200).goes)).toBe(64);
  });
});

describe("who stands in line", () => {
  test("has its turn in the order it came, whoever comes after or stands there twice", () => {
    const line = tellingLine<string>(200);
    expect(line.stand("a", 0)).toBe(true);
    expect(line.stand("b", 100)).toBe(false);
    line.stand("a", 150);
    expect(line.nextAt()).toBe(200);
    expect(line.takeDue(149)).toEqual([]);
    expect(line.takeDue(200)).toEqual(["a"]);
    expect(line.nextAt()).toBe(300);
    expect(line.takeDue(300)).toEqual(["b"]);
    expect(line.nextAt()).toBeUndefined();
  });

  test("goes with who is due, if it is so soon", () => {
    const line = tellingLine<string>(200);
    for (const [one, at] of [
      ["a", 0],
      ["b", 50],
      ["c", 51],
    ] as const)
      line.stand(one, at);
    expect(line.takeDue(200)).toEqual(["a", "b"]);
  });

  test("waits out the pause after a go", () => {
    const line = tellingLine<number>(200);
    for (let one = 0; one < 16; one++) line.stand(one, 0);
    expect(line.takeDue(200)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(line.nextAt()).toBe(250);
    expect(line.takeDue(249)).toEqual([]);
    expect(line.takeDue(250)).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
  });

  test("may be taken before its time, or leave", () => {
    const line = tellingLine<string>(200);
    for (const one of ["a", "b", "c"]) line.stand(one, 0);
    expect(line.takeFirst()).toEqual(["a"]);
    line.leave("b");
    expect(line.takeDue(200)).toEqual(["c"]);
    expect(line.takeFirst()).toEqual([]);
  });
});
