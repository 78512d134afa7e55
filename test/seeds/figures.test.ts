import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type Convergence,
  convergence,
  convergenceFrom,
  convergenceTo,
  type Point,
  type Reform,
  reform,
  reformsAt,
} from "../../scripts/figures/traffic.js";
import { drawFigures } from "../../scripts/figures.js";

/** What the estimate of a client reads at a time, before the call of that instant if there is one. */
function readAt({ estimates }: Convergence, seconds: number): number {
  const found = estimates.find(([at]) => Math.abs(at - seconds) < 1e-6) as Point;
  return found[1];
}

describe.each([10, 1])("the figure of convergence at a half-life of %s s", (halfLife) => {
  const lambda = Math.LN2 / halfLife;

  it("E12: agrees with the closed form at t = 60, 70, 110, 200 and 210", async () => {
    for (const client of await convergence(halfLife)) {
      const { perSecond } = client;
      const q = Math.exp(-lambda / perSecond);
      for (const seconds of [60, 70, 110, 200, 210]) {
        const calls = Math.min(seconds - convergenceFrom, convergenceTo - convergenceFrom) * perSecond;
        const sinceLast = seconds - (convergenceFrom + (calls - 1) / perSecond);
        const closed = (lambda * Math.exp(-lambda * sinceLast) * (1 - q ** calls)) / (1 - q);
        // Hits faded to a millionth of one are forgotten.
        expect(Math.abs(readAt(client, seconds) - closed)).toBeLessThan(1e-6 * lambda + 1e-9);
      }
    }
  });

  it("E13: is at half the rate after one half-life, at the rate within a minute, and halves again after the end", async () => {
    for (const client of await convergence(halfLife)) {
      const { perSecond } = client;
      // Between two calls the estimate swings by lambda.
      if (perSecond * halfLife >= 1) {
        const half = readAt(client, convergenceFrom + halfLife);
        expect(Math.abs(half - perSecond / 2)).toBeLessThanOrEqual(lambda);
      }
      const later = client.estimates.filter(([at]) => at >= convergenceFrom + 60 && at < convergenceTo);
      for (const [, estimate] of later)
        expect(Math.abs(estimate - perSecond)).toBeLessThanOrEqual(lambda + perSecond / 64);
      expect(readAt(client, convergenceTo + halfLife)).toBeCloseTo(readAt(client, convergenceTo) / 2, 9);
    }
  });

  it("E14: swings in a band lambda wide, so the shorter the half-life the larger the error", async () => {
    for (const { perSecond, estimates } of await convergence(halfLife)) {
      const steady = estimates
        .filter(([at]) => at >= 190 && at < convergenceTo)
        .map(([, estimate]) => estimate);
      expect(Math.max(...steady) - Math.min(...steady)).toBeCloseTo(lambda, 2);
      expect(Math.min(...steady)).toBeLessThan(perSecond);
      expect(Math.max(...steady)).toBeGreaterThan(perSecond);
    }
  });
});

describe("the figure of reform", () => {
  const pattern = ({ calls }: Reform) => calls.map(({ allowed }) => (allowed ? "+" : "-")).join("");

  it("E16: the fixed window lets ten in every ten seconds while the client floods, and refuses none from t = 160 on", async () => {
    const [windowed] = (await reform()) as [Reform];
    const flooding = windowed.calls.filter(({ seconds }) => seconds < reformsAt);
    expect(flooding).toHaveLength(250);
    expect(flooding.filter(({ allowed }) => allowed)).toHaveLength(150);
    for (let from = 0; from < reformsAt; from += 10) {
      const inWindow = flooding.filter(({ seconds }) => seconds >= from && seconds < from + 10);
      expect(inWindow.filter(({ allowed }) => allowed)).toHaveLength(10);
    }
    expect(windowed.calls.filter(({ seconds, allowed }) => seconds >= 160 && !allowed)).toEqual([]);
  });

  it("E17: EARRRL gives a longer grace, then lets none in at all, then, some time after the reform, all", async () => {
    const [windowed, estimated] = (await reform()) as [Reform, Reform];
    expect(pattern(estimated)).toMatch(/^\+{40,}-{250,}\+{100,}$/);
    expect(pattern(estimated).indexOf("-")).toBeGreaterThan(pattern(windowed).indexOf("-"));
    const locked = estimated.calls.filter(({ allowed }) => !allowed);
    expect(locked.at(0)?.seconds).toBeCloseTo(27, 0);
    expect(locked.at(-1)?.seconds).toBeGreaterThan(reformsAt + 80);
    expect(locked.at(-1)?.seconds).toBeLessThan(reformsAt + 120);
  });
});

it("the figures in docs are what the script draws", async () => {
  const drawn = await drawFigures();
  for (const [name, svg] of Object.entries(drawn)) {
    const kept = readFileSync(new URL(`../../docs/figures/${name}`, import.meta.url), "utf8");
    expect(kept === svg, `${name}: run npm run figures`).toBe(true);
  }
  expect(Object.keys(drawn)).toHaveLength(3);
});
