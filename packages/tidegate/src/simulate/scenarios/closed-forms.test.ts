import { describe, expect, test } from "vitest";
import {
  allPassUpTo,
  burstLetThrough,
  graceCalls,
  lambdaOf,
  lockedOutAbove,
  sharePassing,
  silenceNeeded,
  steadyBand,
  steadyEstimate,
} from "./closed-forms.js";
import { type ClientRun, runScenario } from "./run-scenario.js";
import type { Phase, Scenario } from "./scenario.js";

interface Limited {
  readonly rate: number;
  readonly halfLife: number;
  readonly overage?: number;
}

/** One client under one EARRRL limit. */
function simulated(phases: readonly Phase[], limit: Limited, more: Partial<Scenario> = {}): ClientRun {
  const run = runScenario({
    name: "test",
    title: "test",
    about: "",
    seconds: phases.at(-1)?.to ?? 1,
    clients: [{ name: "client", phases }],
    limits: [{ limit: { earrrl: { ...limit, halfLife: limit.halfLife * 1000 } } }],
    ...more,
  });
  return run.limits[0]?.clients[0] as ClientRun;
}

const halfLives = [1, 10, 20];

describe.each(halfLives)("at a half-life of %s s", (halfLife) => {
  const lambda = lambdaOf(halfLife);

  test.each([10, 1, 0.1])(
    "the estimate of %s calls a second is steadyEstimate, during and after",
    (perSecond) => {
      const traffic = { perSecond, halfLife, from: 50, to: 200 };
      const readAt = [50, 55, 60, 70, 110, 199.95, 200, 210, 230];
      const { readings } = simulated(
        [{ from: 50, to: 200, rate: perSecond }],
        { rate: 1e6, halfLife },
        {
          seconds: 260,
          readAt,
        },
      );
      expect(readings?.map(([at]) => at)).toEqual(readAt);
      // Hits faded to a millionth of one are forgotten.
      for (const [at, estimate] of readings ?? [])
        expect(Math.abs(estimate - steadyEstimate(traffic, at))).toBeLessThan(1e-6 * lambda + 1e-9);
    },
  );

  test.each([10, 1, 0.1])("%s calls a second are read within steadyBand, lambda wide (E14)", (perSecond) => {
    const seconds = 20 * halfLife + 40 / perSecond;
    const { estimates } = simulated([{ from: 0, to: seconds, rate: perSecond }], { rate: 1e6, halfLife });
    const steady = (estimates ?? []).filter(([at]) => at > seconds - 3 / perSecond).map(([, value]) => value);
    const { low, high } = steadyBand(perSecond, halfLife);
    expect(high - low).toBeCloseTo(lambda, 12);
    expect(Math.max(...steady)).toBeCloseTo(high, 4);
    expect(Math.min(...steady)).toBeCloseTo(low, 4);
    expect(low).toBeLessThan(perSecond);
    expect(high).toBeGreaterThan(perSecond);
  });

  test.each([0.1, 0.5, 1, 7, 20])(
    "burstLetThrough passes at once at a rate of %s, and not one more (E15)",
    (rate) => {
      const burst = burstLetThrough({ rate, halfLife });
      const phase = { from: 0, to: 1, rate: burst + 5, pattern: "burst-and-wait", burst: burst + 5 } as const;
      expect(simulated([phase], { rate, halfLife })).toMatchObject({ sent: burst + 5, passed: burst });
    },
  );

  test.each([1.2, 5 / 3, 3, 10])("of %s times the rate graceCalls pass, then none", (times) => {
    for (const rate of [0.5, 1, 5]) {
      const perSecond = rate * times;
      if (perSecond <= allPassUpTo({ rate, halfLife })) continue;
      const grace = graceCalls(perSecond, { rate, halfLife });
      const { calls } = simulated([{ from: 0, to: (grace + 200) / perSecond, rate: perSecond }], {
        rate,
        halfLife,
      });
      expect(calls.findIndex(({ allowed }) => !allowed)).toBe(grace);
      expect(calls.slice(grace).some(({ allowed }) => allowed)).toBe(false);
    }
  });

  test.each([2, 10, 100])(
    "after %s times the rate silenceNeeded is what must be kept, log2 of it in half-lives (E29)",
    (times) => {
      const rate = 1;
      const long = 20 * halfLife;
      const needed = silenceNeeded(rate * times, { rate, halfLife });
      const last = long - 1 / (rate * times);
      const after = (wait: number) =>
        simulated(
          [
            { from: 0, to: long, rate: rate * times },
            { from: last + wait, to: last + wait + 0.5, rate: 1 },
          ],
          { rate, halfLife },
        ).calls.at(-1)?.allowed;
      expect(after(needed * 0.998)).toBe(false);
      expect(after(needed * 1.002)).toBe(true);
      // λ/2 above r is what the last call itself adds.
      expect(needed).toBeCloseTo(halfLife * Math.log2((rate * times + lambda / 2) / rate), 0);
    },
  );

  test.each([0, 0.25, 0.5])(
    "with overage %s too, and who sometimes passes waits no longer than that",
    (overage) => {
      const limit = { rate: 1, halfLife, overage };
      for (const perSecond of [0.5, 1.5, 3, 20]) {
        const last = 20 * halfLife;
        const wait = silenceNeeded(perSecond, limit);
        const { calls } = simulated(
          [
            { from: 0, to: last + 1e-3, rate: perSecond },
            { from: last + wait * 1.002 + 2e-3, to: last + wait + 0.5, rate: 1 },
          ],
          limit,
        );
        expect(calls.at(-1)?.allowed).toBe(true);
        if (perSecond > lockedOutAbove(limit))
          expect(wait).toBeCloseTo(halfLife * Math.log2(overage * (perSecond + lambda / 2)), 0);
      }
      expect(silenceNeeded(0.5, limit)).toBe(0);
    },
  );
});

describe("who is locked out for ever", () => {
  const weights = [0.25, 0.5, 0.75, 1];
  const share = (perSecond: number, limit: Limited) => {
    const half = 2000 / perSecond;
    const { calls } = simulated([{ from: 0, to: 2 * half, rate: perSecond }], limit);
    const late = calls.filter(({ at }) => at >= half);
    return late.filter(({ allowed }) => allowed).length / late.length;
  };

  test.each(weights)(
    "with overage %s: who is above lockedOutAbove, and nobody below (E32, E33)",
    (overage) => {
      for (const halfLife of halfLives) {
        const limit = { rate: 1, halfLife, overage };
        const edge = lockedOutAbove(limit);
        expect(share(edge * 1.003, limit)).toBe(0);
        expect(share(edge * 0.997, limit)).toBeGreaterThan(0);
        expect(edge).toBeGreaterThan(1 / overage);
        expect(edge).toBeLessThan(1 / overage + lambdaOf(halfLife));
      }
    },
  );

  test("with overage 0 nobody is", () => {
    expect(lockedOutAbove({ rate: 1, halfLife: 10, overage: 0 })).toBe(Number.POSITIVE_INFINITY);
    expect(share(50, { rate: 1, halfLife: 10, overage: 0 }) * 50).toBeCloseTo(1, 1);
  });

  test.each([0, 0.25, 0.5, 0.75])(
    "with overage %s sharePassing passes below that, and all up to allPassUpTo",
    (overage) => {
      for (const halfLife of halfLives) {
        const limit = { rate: 1, halfLife, overage };
        expect(share(allPassUpTo(limit) * 0.999, limit)).toBe(1);
        for (const perSecond of [1.1, 1.3, 1.6, 2, 3, 3.9]) {
          const within = 1 - Math.exp(-lambdaOf(halfLife) / perSecond) + 0.002 / (1 - overage);
          expect(Math.abs(share(perSecond, limit) - sharePassing(perSecond, limit))).toBeLessThanOrEqual(
            within,
          );
        }
      }
    },
  );

  test("sharePassing is 1 for who keeps to the rate, 0 for who is locked out, and falls in between", () => {
    const limit = { rate: 1, halfLife: 20, overage: 0.5 };
    const shares = [0.5, 1, 1.2, 1.5, 1.8, 2, 3].map((perSecond) => sharePassing(perSecond, limit));
    expect(shares.slice(0, 2)).toEqual([1, 1]);
    expect(shares.at(-1)).toBe(0);
    expect(shares).toEqual(shares.toSorted((a, b) => b - a));
  });
});
