import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exceeds } from "../../limit.js";
import { mostWithin, trial } from "../../testing/trial.js";
import { slidingCounter } from "./sliding-counter.js";

const start = 1_700_000_000_000;
const day = 86_400_000;

/** Calls one after the other: how long after the last, and what each weighs. */
const calls = (mostCost: number, longestGap: number) =>
  fc.array(fc.record({ gap: fc.nat(longestGap), cost: fc.integer({ min: 1, max: mostCost }) }), {
    minLength: 1,
    maxLength: 80,
    size: "max",
  });

describe("slidingCounter", () => {
  test("counts as a list of all calls, summed window by window, does", () => {
    const action = fc.record({
      gap: fc.oneof(fc.constant(0), fc.nat(400), fc.nat(2500)),
      cost: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constantFrom(0.5, 0.1, 2.5)),
      act: fc.constantFrom("consume", "consume", "consume", "peek", "refund"),
      pick: fc.nat(1000),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 0, max: 12 }),
        fc.array(action, { maxLength: 60, size: "max" }),
        (windowMs, limit, actions) => {
          const counter = trial(slidingCounter({ limit, window: windowMs }));
          const charges: { window: number; left: number; verdict: ReturnType<typeof counter.peek> }[] = [];
          const sumOf = (window: number) =>
            charges.reduce((sum, each) => (each.window === window ? sum + each.left : sum), 0);
          let now = start;
          for (const { gap, cost, act, pick } of actions) {
            now += gap;
            const window = Math.floor(now / windowMs);
            if (act === "refund") {
              const charge = charges[pick % Math.max(1, charges.length)];
              if (charge === undefined) continue;
              counter.refund(now, charge.verdict);
              if (charge.window >= window - 1) {
                // Counts have no names: what is given back comes from whatever the window still holds.
                let back = charge.verdict.cost;
                for (const each of charges.filter((one) => one.window === charge.window)) {
                  const taken = Math.min(back, each.left);
                  each.left -= taken;
                  back -= taken;
                }
              }
              continue;
            }
            const elapsed = (now - window * windowMs) / windowMs;
            const used = sumOf(window) + sumOf(window - 1) * (1 - elapsed);
            const verdict = counter[act](now, cost);
            expect(verdict.allowed).toBe(!exceeds(Number((used + cost).toFixed(9)), limit));
            if (act === "consume" && verdict.allowed) charges.push({ window, left: cost, verdict });
          }
        },
      ),
    );
  });

  test.each([
    ["a millisecond", 1],
    ["a second", 1000],
    ["an hour", 3_600_000],
    ["400 days", 400 * day],
  ])("a refused call passes exactly when it was told, in a window of %s", (_, windowMs) => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000_000 })),
        fc.array(
          fc.record({
            gap: fc.double({ min: 0, max: 0.7, noNaN: true }),
            share: fc.double({ min: 0.01, max: 1, noNaN: true }),
            whole: fc.boolean(),
          }),
          { minLength: 1, maxLength: 30, size: "max" },
        ),
        (limit, hits) => {
          const counter = trial(slidingCounter({ limit, window: windowMs }));
          let now = start;
          for (const { gap, share, whole } of hits) {
            now += whole ? Math.round(gap * windowMs) : gap * windowMs;
            const cost = whole ? Math.max(1, Math.floor(share * limit)) : share * limit;
            const { allowed, retryAfterMs } = counter.consume(now, cost);
            if (allowed) continue;
            expect(Number.isInteger(retryAfterMs)).toBe(true);
            expect(counter.peek(now + retryAfterMs, cost).allowed).toBe(true);
            if (retryAfterMs > 1) expect(counter.peek(now + retryAfterMs - 1, cost).allowed).toBe(false);
          }
        },
      ),
    );
  });

  test("what remains fits, and one more does not", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), calls(5, 700), (limit, hits) => {
        const counter = trial(slidingCounter({ limit, window: 1000 }));
        let now = start;
        for (const { gap, cost } of hits) {
          now += gap;
          const { remaining } = counter.consume(now, cost);
          if (remaining > 0) expect(counter.peek(now, remaining).allowed).toBe(true);
          expect(counter.peek(now, remaining + 1).allowed).toBe(false);
        }
      }),
    );
  });

  test("after resetAfterMs nothing counts any more, and a millisecond earlier something does", () => {
    fc.assert(
      fc.property(calls(3, 900), (hits) => {
        const counter = trial(slidingCounter({ limit: 4, window: 1000 }));
        let now = start;
        for (const { gap, cost } of hits) {
          now += gap;
          const { resetAfterMs } = counter.consume(now, cost);
          expect(counter.peek(now + resetAfterMs, 4)).toMatchObject({ allowed: true, resetAfterMs: 0 });
          expect(counter.peek(now + resetAfterMs - 1, 4).allowed).toBe(false);
        }
      }),
    );
  });

  test("lets through at most limit · (1 + d / window) in any stretch d up to a window", () => {
    const windowMs = 1000;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), calls(3, 400), (limit, hits) => {
        const counter = trial(slidingCounter({ limit, window: windowMs }));
        const passed: { at: number; cost: number }[] = [];
        let at = start;
        for (const { gap, cost } of hits) {
          at += gap;
          if (counter.consume(at, cost).allowed) passed.push({ at, cost });
        }
        for (const d of [1, 10, 100, 250, 500, 900, 999, 1000]) {
          expect(mostWithin(d, passed)).toBeLessThanOrEqual(limit * (1 + d / windowMs));
        }
        expect(mostWithin(windowMs, passed)).toBeLessThanOrEqual(2 * limit - 1);
      }),
    );
  });

  test("the worst case happens: limit at a window's end, and limit · d / window within d of it", () => {
    const counter = trial(slidingCounter({ limit: 100, window: "1m" }));
    const boundary = Math.ceil(start / 60_000) * 60_000;
    const passes = (at: number) => {
      let count = 0;
      while (counter.consume(at).allowed) count++;
      return count;
    };
    expect(passes(boundary - 1)).toBe(100);
    expect(passes(boundary)).toBe(0);
    expect(passes(boundary + 15_000)).toBe(25);
    expect(passes(boundary + 59_998)).toBe(74);
  });

  test("a steady client with one call fewer than the limit per window is never refused", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 100 }), fc.nat(60_000), (limit, phase) => {
        const counter = trial(slidingCounter({ limit, window: "1m" }));
        const gap = Math.ceil(60_000 / (limit - 1));
        let refused = 0;
        for (let i = 0; i < 5 * limit; i++)
          refused += counter.consume(start + phase + i * gap).allowed ? 0 : 1;
        expect(refused).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  test("a client at twice the limit gets the limit, window after window", () => {
    const counter = trial(slidingCounter({ limit: 60, window: "1m" }));
    let passed = 0;
    for (let i = 0; i < 7200; i++) passed += counter.consume(start + i * 500).allowed ? 1 : 0;
    expect(Math.abs(passed - 3600)).toBeLessThanOrEqual(60);
  });

  test("a limit whose number changed keeps its counts", () => {
    const counter = trial(slidingCounter({ limit: 10, window: "1m" }));
    counter.consume(start, 8);
    counter.change(slidingCounter({ limit: 20, window: "1m" }));
    expect(counter.peek(start).remaining).toBe(12);
    counter.change(slidingCounter({ limit: 5, window: "1m" }));
    expect(counter.peek(start)).toMatchObject({ allowed: false, remaining: 0 });
  });

  test("pressure is the share in use, and nothing once nothing counts", () => {
    const limit = slidingCounter({ limit: 10, window: 1000 });
    const cells = new Float64Array([5000, 4, 10]);
    expect(limit.pressure(cells, 0, 5500)).toBe(0.9);
    expect(limit.pressure(cells, 0, 6500)).toBe(0.2);
    expect(limit.pressure(cells, 0, 7000)).toBe(0);
    expect(slidingCounter({ limit: 0, window: 1000 }).pressure(cells, 0, 5500)).toBe(1);
  });

  test.each<[options: unknown, path: string, value: string]>([
    [undefined, "slidingCounter", "undefined"],
    [{ window: "1m" }, "slidingCounter.limit", "undefined"],
    [{ limit: -1, window: "1m" }, "slidingCounter.limit", "-1"],
    [{ limit: Number.NaN, window: "1m" }, "slidingCounter.limit", "NaN"],
    [{ limit: Number.POSITIVE_INFINITY, window: "1m" }, "slidingCounter.limit", "Infinity"],
    [{ limit: "5", window: "1m" }, "slidingCounter.limit", '"5"'],
    [{ limit: 5 }, "slidingCounter.window", "undefined"],
    [{ limit: 5, window: 0 }, "slidingCounter.window", "0"],
    [{ limit: 5, window: 0.5 }, "slidingCounter.window", "0.5"],
    [{ limit: 5, window: "1 minute" }, "slidingCounter.window", '"1 minute"'],
    [{ limit: 5, window: "11y" }, "slidingCounter.window", '"11y"'],
    [{ limit: 5, windowMs: 1000, window: 1000 }, "slidingCounter.windowMs", "no such option"],
  ])("refuses %j and says where and why", (options, path, value) => {
    expect(() => slidingCounter(options as never)).toThrow(
      expect.objectContaining({ name: "ConfigError", path, message: expect.stringContaining(value) }),
    );
  });
});
