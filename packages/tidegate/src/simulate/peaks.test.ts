import { describe, expect, it } from "vitest";
import { Histogram } from "./histogram.js";
import { KeyId } from "./key-id.js";
import { Peaks } from "./peaks.js";
import { durationText, readable } from "./readable.js";

const id = new KeyId();

function count(peaks: Peaks, key: string, at: number, times: number): void {
  id.of(0, key);
  for (let i = 0; i < times; i++) peaks.count(id.low, id.high, at, 1);
}

describe("peaks", () => {
  it("are a client's most in any window", () => {
    const peaks = new Peaks(1000);
    count(peaks, "a", 0, 3);
    count(peaks, "a", 1000, 7);
    count(peaks, "a", 5000, 2);
    count(peaks, "b", 5999, 4);
    const { byClient, byWindow } = peaks.histograms();
    expect(byClient.count).toBe(2);
    expect(byClient.percentile(0.5)).toBe(4);
    expect(byClient.percentile(1)).toBe(7);
    // Of 3, 7, 2 and 4 in a window each, a limit of 3 would refuse 4 + 1.
    expect(byWindow.above(3)).toEqual({ count: 2, excess: 5 });
  });

  it("of more clients than can be followed are written off when their window is over", () => {
    const peaks = new Peaks(1000, 2048);
    for (let i = 0; i < 20_000; i++) count(peaks, `client ${i}`, i, 1 + (i % 3));
    const { byClient, byWindow } = peaks.histograms();
    expect(peaks.isEstimated).toBe(true);
    expect(byClient.count).toBe(20_000);
    expect(byWindow.above(0).excess).toBe(39_999);
  });
});

describe("a histogram", () => {
  it("tells amounts beyond 64 within 4 %", () => {
    const histogram = new Histogram();
    for (let amount = 1; amount <= 10_000; amount++) histogram.add(amount);
    for (const share of [0.1, 0.5, 0.9, 0.999]) {
      expect(Math.abs(histogram.percentile(share) / (share * 10_000) - 1)).toBeLessThan(0.04);
    }
    expect(Math.abs(histogram.above(5000).excess / 12_502_500 - 1)).toBeLessThan(0.001);
  });
});

describe("readable numbers", () => {
  it.each([
    [0, 1],
    [3.2, 4],
    [20, 20],
    [21, 25],
    [99, 100],
    [101, 120],
    [301, 400],
    [45_000, 50_000],
  ])("%d becomes %d", (amount, wanted) => {
    expect(readable(amount)).toBe(wanted);
  });

  it.each([
    [300_000, "5m"],
    [90_000, "90s"],
    [86_400_000, "1d"],
    [1500, "1.5s"],
    [250, "250ms"],
  ])("%d ms are %s", (ms, wanted) => {
    expect(durationText(ms)).toBe(wanted);
  });
});
