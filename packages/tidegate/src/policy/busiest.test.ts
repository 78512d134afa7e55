import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyHash } from "../key-hash.js";
import { busiest, type Counted } from "./busiest.js";

const start = 1_700_000_000_000;
const hash = new KeyHash();

function known(ip: string): Counted {
  hash.of(ip);
  return { ip, low: hash.low, high: hash.high };
}

interface Hit {
  readonly key: string;
  readonly refused: boolean;
  readonly secondsLater: number;
}

/** What was really sent, each request worth half after 300 s. */
function exactly(hits: readonly Hit[]): Map<string, { count: number; refused: number }> {
  const end = hits.reduce((sum, { secondsLater }) => sum + secondsLater, 0);
  const exact = new Map<string, { count: number; refused: number }>();
  let second = 0;
  for (const { key, refused, secondsLater } of hits) {
    second += secondsLater;
    const worth = 2 ** ((second - end) / 300);
    const own = exact.get(key) ?? { count: 0, refused: 0 };
    exact.set(key, { count: own.count + worth, refused: own.refused + (refused ? worth : 0) });
  }
  return exact;
}

/** Mostly few keys, some many: as traffic is. */
const key = fc.oneof(
  fc.nat(4).map((i) => `busy ${i}`),
  fc.nat(60).map((i) => `rare ${i}`),
);
const hit = fc.record({
  key,
  refused: fc.boolean(),
  secondsLater: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.nat(400), fc.constant(50_000)),
});

describe("the busiest", () => {
  it("are counted at most `error` too high and never too low, and nobody above N / capacity is missed", () => {
    fc.assert(
      fc.property(fc.array(hit, { maxLength: 400 }), fc.integer({ min: 1, max: 20 }), (hits, capacity) => {
        const sketch = busiest({ capacity });
        let now = start;
        for (const { key, refused, secondsLater } of hits) {
          now += secondsLater * 1000;
          sketch.count(known(key), refused, now);
        }
        const exact = exactly(hits);
        const top = sketch.top(capacity);
        const all = [...exact.values()].reduce((sum, { count }) => sum + count, 0);
        const slack = 1e-9 * (1 + all);
        for (const { key, count, error, refused } of top) {
          const own = exact.get(key) ?? { count: 0, refused: 0 };
          expect(own.count).toBeLessThanOrEqual(count + slack);
          expect(own.count).toBeGreaterThanOrEqual(count - error - slack);
          expect(refused).toBeLessThanOrEqual(own.refused + slack);
          expect(error).toBeLessThanOrEqual(all / capacity + slack);
        }
        const kept = new Set(top.map(({ key }) => key));
        for (const [key, { count }] of exact) {
          if (count > all / capacity + slack) expect(kept).toContain(key);
        }
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  it("are told exactly, busiest first, while all have room", () => {
    const sketch = busiest();
    for (let i = 0; i < 30; i++) sketch.count(known(i % 3 === 0 ? "a" : "b"), i % 6 === 0, start);
    expect(sketch.top(5)).toEqual([
      { key: "b", count: 20, error: 0, refused: 0, total: 20, totalRefused: 0 },
      { key: "a", count: 10, error: 0, refused: 5, total: 10, totalRefused: 5 },
    ]);
    expect(sketch.top(1).map(({ key }) => key)).toEqual(["b"]);
    expect([...sketch.top(0), ...sketch.top(-1)]).toEqual([]);
  });

  it("stay known in a flood of a million fresh keys", () => {
    const sketch = busiest({ capacity: 100 });
    for (let i = 0; i < 1_000_000; i++) {
      sketch.count(known(`fresh ${i}`), true, start);
      if (i % 50 === 0) sketch.count(known("steady"), false, start);
    }
    const [first] = sketch.top(1);
    expect(first?.key).toBe("steady");
    expect(first?.count).toBeGreaterThanOrEqual(20_000);
    expect(first && first.count - first.error).toBeLessThanOrEqual(20_000);
  });

  it("are those of lately: half is forgotten in five minutes", () => {
    const sketch = busiest();
    for (let i = 0; i < 100; i++) sketch.count(known("yesterday's"), false, start);
    for (let i = 0; i < 60; i++) sketch.count(known("today's"), false, start + 300_000);
    expect(sketch.top(2)).toEqual([
      { key: "today's", count: 60, error: 0, refused: 0, total: 60, totalRefused: 0 },
      { key: "yesterday's", count: 50, error: 0, refused: 0, total: 100, totalRefused: 0 },
    ]);
  });

  it("have totals too, which do not fade, and begin again with a name that was let go", () => {
    const sketch = busiest({ capacity: 1 });
    for (let i = 0; i < 10; i++) sketch.count(known("a"), i < 3, start + i * 60_000);
    expect(sketch.top(1)).toMatchObject([{ key: "a", total: 10, totalRefused: 3 }]);
    for (let i = 0; i < 20; i++) sketch.count(known("b"), true, start + 600_000);
    expect(sketch.top(1)[0]?.total).toBeLessThan(20);
    for (let i = 0; i < 50; i++) sketch.count(known("a"), false, start + 600_000);
    expect(sketch.top(1)).toMatchObject([{ key: "a", totalRefused: 0 }]);
    expect(sketch.top(1)[0]?.total).toBeLessThanOrEqual(50);
  });

  it("fade whether their names are kept or not", () => {
    const sketch = busiest({ capacity: 1 });
    for (let i = 0; i < 10; i++) sketch.count(known("kept"), false, start);
    for (let i = 0; i < 5; i++) sketch.count(known("not kept"), false, start);
    sketch.count(known("not kept"), false, start + 365 * 86_400_000);
    expect(sketch.top(1)).toEqual([
      { key: "not kept", count: 1, error: 0, refused: 0, total: 1, totalRefused: 0 },
    ]);
  });

  it("outlive years of counting", () => {
    const sketch = busiest();
    for (let day = 0; day < 2000; day++) sketch.count(known("daily"), false, start + day * 86_400_000);
    const [daily] = sketch.top(1);
    expect(daily?.count).toBeCloseTo(1, 9);
  });

  it("go on being counted when the clock jumps either way", () => {
    const sketch = busiest();
    sketch.count(known("before"), false, start);
    sketch.count(known("in ten years"), false, start + 3650 * 86_400_000);
    for (let i = 0; i < 5; i++) sketch.count(known("after"), false, start);
    expect(sketch.top(2)).toEqual([
      { key: "after", count: 5, error: 0, refused: 0, total: 5, totalRefused: 0 },
      { key: "in ten years", count: 1, error: 0, refused: 0, total: 1, totalRefused: 0 },
    ]);
  });

  it("are each found again, however many come and go", () => {
    const sketch = busiest({ capacity: 8 });
    const exact = new Map<string, number>();
    for (let i = 0; i < 20_000; i++) {
      const key = `client ${(i * i) % 97}`;
      exact.set(key, (exact.get(key) ?? 0) + 1);
      sketch.count(known(key), false, start);
      const kept = sketch.top(8).map(({ key }) => key);
      expect(new Set(kept).size).toBe(kept.length);
    }
    for (const { key, count, error } of sketch.top(8)) {
      expect(exact.get(key)).toBeLessThanOrEqual(count);
      expect(exact.get(key)).toBeGreaterThanOrEqual(count - error);
    }
  });

  it.each([0, -1, 1.5, Number.NaN, 1e9])("says at once that it can not keep %d names", (capacity) => {
    expect(() => busiest({ capacity })).toThrow(expect.objectContaining({ code: "TG_BUSIEST" }));
  });
});
