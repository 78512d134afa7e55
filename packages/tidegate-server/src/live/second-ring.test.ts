import { describe, expect, it } from "vitest";
import { secondRing } from "./second-ring.js";

const ringOf = (most = 10) => secondRing({ width: 2, seconds: 5, most });

describe("a ring of seconds", () => {
  it("keeps the newest seconds, and 0 for those nobody told of", () => {
    const ring = ringOf();
    for (let second = 100; second < 108; second++) {
      ring.begin(second);
      ring.add("a", [second, 1]);
    }
    expect(ring.rows("a", 101, 8)).toEqual([
      [0, 0, 103, 104, 105, 106, 107, 0],
      [0, 0, 1, 1, 1, 1, 1, 0],
    ]);
    expect(ring.rows("b", 106, 2)).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it("has nothing of seconds that were skipped, however many", () => {
    const ring = ringOf();
    ring.begin(100);
    ring.add("a", [1, 1]);
    ring.begin(103);
    expect(ring.rows("a", 99, 5)[0]).toEqual([0, 1, 0, 0, 0]);
    ring.begin(1_000_000);
    expect(ring.rows("a", 999_996, 5)[0]).toEqual([0, 0, 0, 0, 0]);
  });

  it("adds to the same second what comes while the clock is set back a little, and begins again after a leap", () => {
    const ring = ringOf();
    ring.begin(100);
    ring.add("a", [1, 0]);
    ring.begin(99);
    ring.add("a", [2, 0]);
    expect(ring.rows("a", 99, 2)[0]).toEqual([0, 3]);
    ring.begin(50);
    ring.add("a", [4, 0]);
    expect(ring.rows("a", 46, 5)[0]).toEqual([0, 0, 0, 0, 4]);
  });

  it("keeps so many names, and gives the place of one of which nothing is left to another", () => {
    const ring = ringOf(2);
    ring.begin(100);
    for (const name of ["a", "b", "c"]) ring.add(name, [1, 1]);
    expect([...ring.names()]).toEqual(["a", "b"]);
    ring.begin(200);
    ring.add("b", [1, 1]);
    ring.add("c", [1, 1]);
    expect([...ring.names()]).toEqual(["b", "c"]);
  });
});
