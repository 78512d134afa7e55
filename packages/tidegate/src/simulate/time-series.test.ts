import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TimeSeries } from "./time-series.js";
import { WorstSecond } from "./worst-second.js";

describe("a series", () => {
  it("begins with buckets of a second", () => {
    const series = new TimeSeries(2, 10);
    for (const at of [5200, 5900, 8000]) series.count(0, series.place(at));
    series.count(1, series.place(8000));
    expect(series.everyMs).toBe(1000);
    expect(series.times).toEqual([5000, 6000, 7000, 8000]);
    expect(series.column(0)).toEqual([2, 0, 0, 1]);
    expect(series.column(1)).toEqual([0, 0, 0, 1]);
  });

  it("doubles its buckets when there are too many, and loses no count", () => {
    const times = fc.array(fc.nat(400_000), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(times, fc.integer({ min: 2, max: 40 }), (drawn, points) => {
        const sorted = drawn.map((at) => at + 1_700_000_000_000).sort((a, b) => a - b);
        const series = new TimeSeries(1, points);
        for (const at of sorted) series.count(0, series.place(at));
        const begins = series.times;
        const counts = series.column(0);
        expect(begins.length).toBeLessThanOrEqual(points);
        begins.forEach((from, i) => {
          const within = sorted.filter((at) => at >= from && at < from + series.everyMs);
          expect(counts[i]).toBe(within.length);
        });
        expect(counts.reduce((a, b) => a + b, 0)).toBe(sorted.length);
      }),
    );
  });
});

describe("the worst second", () => {
  it("is the first of those with the most requests", () => {
    const worst = new WorstSecond();
    for (const at of [1000, 1999, 2000, 3000, 3500, 3999, 5000, 5001, 5002]) worst.count(at);
    expect(worst.busiest).toEqual({ at: 3000, requests: 3 });
  });

  it("is none where nothing came", () => {
    expect(new WorstSecond().busiest).toEqual({ at: 0, requests: 0 });
  });
});
