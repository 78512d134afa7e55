import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mostWithin, trial } from "../../testing/trial.js";
import { tokenBucket } from "./token-bucket.js";

const start = 1_700_000_000_000;
const day = 86_400_000;

const calls = (mostCost: number, longestGap: number) =>
  fc.array(
    fc.record({
      gap: fc.oneof(fc.constant(0), fc.nat(longestGap)),
      cost: fc.integer({ min: 1, max: mostCost }),
    }),
    { minLength: 1, maxLength: 80, size: "max" },
  );

describe("tokenBucket", () => {
  test("decides as GCRA does, reckoned in whole numbers by the theoretical arrival time", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.constantFrom(1, 7, 1000, 60_000, day),
        fc.integer({ min: 0, max: 30 }),
        calls(6, 5000),
        (rate, perMs, burst, hits) => {
          const bucket = trial(tokenBucket({ rate, per: perMs, burst }));
          // Times are in 1/rate ms, from the start, so that everything is whole: a token comes back every perMs.
          let arrival = 0n;
          let now = 0;
          for (const { gap, cost } of hits) {
            now += gap;
            const at = BigInt(now) * BigInt(rate);
            const next = (arrival > at ? arrival : at) + BigInt(cost) * BigInt(perMs);
            const passes = next - at <= BigInt(burst) * BigInt(perMs);
            if (passes) arrival = next;
            const verdict = bucket.consume(start + now, cost);
            expect(verdict.allowed).toBe(passes);
            const busy = arrival > at ? arrival - at : 0n;
            expect(verdict.remaining).toBe(Number((BigInt(burst) * BigInt(perMs) - busy) / BigInt(perMs)));
            expect(verdict.resetAfterMs).toBeCloseTo(Number(busy) / rate, 5);
          }
        },
      ),
    );
  });

  test.each([
    ["a million per second", 1_000_000, 1000],
    ["10 per second", 10, 1000],
    ["7 per minute", 7, 60_000],
    ["one per day", 1, day],
    ["one per 400 days", 1, 400 * day],
  ])("a refused call passes exactly when it was told, at %s", (_, rate, perMs) => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 8 }), fc.double({ min: 0.5, max: 9, noNaN: true })),
        fc.array(
          fc.record({
            gap: fc.double({ min: 0, max: 2, noNaN: true }),
            share: fc.double({ min: 0.01, max: 1, noNaN: true }),
            whole: fc.boolean(),
          }),
          { minLength: 1, maxLength: 30, size: "max" },
        ),
        (burst, hits) => {
          const bucket = trial(tokenBucket({ rate, per: perMs, burst }));
          let now = start;
          for (const { gap, share, whole } of hits) {
            const gapMs = (gap * perMs) / rate;
            now += whole ? Math.round(gapMs) : gapMs;
            const cost = whole ? Math.max(1, Math.floor(share * burst)) : share * burst;
            const { allowed, retryAfterMs } = bucket.consume(now, cost);
            if (allowed || retryAfterMs === Number.POSITIVE_INFINITY) continue;
            expect(Number.isInteger(retryAfterMs)).toBe(true);
            expect(bucket.peek(now + retryAfterMs, cost).allowed).toBe(true);
            if (retryAfterMs > 1) expect(bucket.peek(now + retryAfterMs - 1, cost).allowed).toBe(false);
          }
        },
      ),
    );
  });

  test("retryAfterMs stays exact where the tolerance is worth whole tokens", () => {
    const bucket = trial(tokenBucket({ rate: 1_000_000, per: "1s", burst: 1e14 }));
    bucket.consume(start, 1e14);
    const { retryAfterMs } = bucket.consume(start, 5000);
    expect(retryAfterMs).toBe(5);
    expect(bucket.peek(start + 4, 5000).allowed).toBe(false);
    expect(bucket.peek(start + 5, 5000).allowed).toBe(true);
  });

  test("lets through at most burst + rate · d in any stretch d", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        calls(3, 300),
        (rate, burst, hits) => {
          const bucket = trial(tokenBucket({ rate, per: 1000, burst }));
          const passed: { at: number; cost: number }[] = [];
          let at = start;
          for (const { gap, cost } of hits) {
            at += gap;
            if (bucket.consume(at, cost).allowed) passed.push({ at, cost });
          }
          for (const d of [1, 10, 100, 1000, 10_000]) {
            expect(mostWithin(d, passed)).toBeLessThanOrEqual(burst + (rate * d) / 1000);
          }
        },
      ),
    );
  });

  test("a client at exactly the rate is never refused, for ten million tokens", () => {
    const slow = trial(tokenBucket({ rate: "3 per second", burst: 2 }));
    const fast = trial(tokenBucket({ rate: 1_000_000, per: "1s", burst: 1000 }));
    let refused = 0;
    for (let i = 0; i < 10_000; i++) {
      refused += slow.consume(start + Math.ceil((i * 1000) / 3)).allowed ? 0 : 1;
      refused += fast.consume(start + i, 1000).allowed ? 0 : 1;
    }
    expect(refused).toBe(0);
  });

  test("a changed rate or burst keeps the level", () => {
    const bucket = trial(tokenBucket({ rate: "1 per second", burst: 10 }));
    bucket.consume(start, 8);
    bucket.change(tokenBucket({ rate: "4 per second", burst: 20 }));
    expect(bucket.peek(start)).toMatchObject({ remaining: 12, resetAfterMs: 2000 });
    bucket.change(tokenBucket({ rate: "1 per second", burst: 5 }));
    expect(bucket.consume(start)).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 4000 });
  });

  test("a refund undoes its charge while nothing else happened, and never makes room beyond the burst", () => {
    fc.assert(
      fc.property(calls(5, 400), fc.nat(1000), (hits, later) => {
        const options = { rate: 5, per: 1000, burst: 12 };
        const bucket = trial(tokenBucket(options));
        const without = trial(tokenBucket(options));
        let now = start;
        for (const { gap, cost } of hits) {
          now += gap;
          bucket.consume(now, cost);
          without.consume(now, cost);
        }
        const verdict = bucket.consume(now, 2);
        if (!verdict.allowed) return;
        now += later;
        bucket.refund(now, verdict);
        // First in, first out: what was there before it drains first, so the two agree to the token.
        expect(bucket.peek(now).resetAfterMs).toBeCloseTo(without.peek(now).resetAfterMs, 6);
        bucket.refund(now, 1000);
        expect(bucket.peek(now)).toMatchObject({ remaining: 12, resetAfterMs: 0 });
      }),
    );
  });

  test("a charge that has drained can not be given back", () => {
    const bucket = trial(tokenBucket({ rate: "1 per second", burst: 10 }));
    const old = bucket.consume(start, 4);
    bucket.consume(start + 4000, 6);
    bucket.refund(start + 4000, old);
    expect(bucket.peek(start + 4000).remaining).toBe(4);
  });

  test("the state expires when the bucket is full again", () => {
    const limit = tokenBucket({ rate: "1 per second", burst: 10 });
    const reading = { remaining: 0, resetAfterMs: 0, retryAfterMs: 0, expiresAt: 0 };
    limit.read(new Float64Array([4, start]), 0, start + 1000, 1, reading);
    expect(reading.expiresAt).toBe(start + 4000);
    limit.read(new Float64Array([0, start]), 0, start, 1, reading);
    expect(reading.expiresAt).toBe(start + 1);
  });

  test("pressure is the share in use", () => {
    const limit = tokenBucket({ rate: "1 per second", burst: 10 });
    const cells = new Float64Array([8, 1000]);
    expect(limit.pressure(cells, 0, 1000)).toBe(0.8);
    expect(limit.pressure(cells, 0, 4000)).toBe(0.5);
    expect(limit.pressure(cells, 0, 9000)).toBe(0);
  });

  test.each<[options: unknown, path: string, value: string]>([
    [undefined, "tokenBucket", "undefined"],
    [{ burst: 5 }, "tokenBucket.rate", "undefined"],
    [{ rate: 10, burst: 5 }, "tokenBucket.per", "10"],
    [{ rate: "10 per second", per: "1s", burst: 5 }, "tokenBucket.per", '"1s"'],
    [{ rate: "10 a second", burst: 5 }, "tokenBucket.rate", '"10 a second"'],
    [{ rate: "0 per second", burst: 5 }, "tokenBucket.rate", '"0 per second"'],
    [{ rate: 0, per: "1s", burst: 5 }, "tokenBucket.rate", "0"],
    [{ rate: -1, per: "1s", burst: 5 }, "tokenBucket.rate", "-1"],
    [{ rate: Number.NaN, per: "1s", burst: 5 }, "tokenBucket.rate", "NaN"],
    [{ rate: Number.POSITIVE_INFINITY, per: "1s", burst: 5 }, "tokenBucket.rate", "Infinity"],
    [{ rate: 10, per: "second", burst: 5 }, "tokenBucket.per", '"second"'],
    [{ rate: 10, per: 0, burst: 5 }, "tokenBucket.per", "0"],
    [{ rate: "10 per second" }, "tokenBucket.burst", "undefined"],
    [{ rate: "10 per second", burst: -1 }, "tokenBucket.burst", "-1"],
    [{ rate: "10 per second", burst: "20" }, "tokenBucket.burst", '"20"'],
    [{ rate: "1 per week", burst: 1000 }, "tokenBucket.burst", "ten years"],
    [{ rate: "10 per second", burst: 5, limit: 5 }, "tokenBucket.limit", "no such option"],
  ])("refuses %j and says where and why", (options, path, value) => {
    expect(() => tokenBucket(options as never)).toThrow(
      expect.objectContaining({ name: "ConfigError", path, message: expect.stringContaining(value) }),
    );
  });
});

/**
 * nginx's limit_req for one client, as its documentation and its behaviour give it: everything in whole thousandths of
 * a call. `rate` is in thousandths of a call per second; without `nodelay` or `delay=n` every excess waits.
 */
function limitReq({ rate, burst, delay }: { rate: number; burst: number; delay: "all" | "none" | number }) {
  let excess: number | undefined;
  let last = 0;
  const freely = delay === "none" ? Number.POSITIVE_INFINITY : delay === "all" ? 0 : delay * 1000;
  return (now: number): { allowed: boolean; delayMs: number } => {
    const next =
      excess === undefined ? 0 : Math.max(0, excess - Math.floor((rate * (now - last)) / 1000) + 1000);
    if (next > burst * 1000) return { allowed: false, delayMs: 0 };
    excess = next;
    last = now;
    return { allowed: true, delayMs: next <= freely ? 0 : Math.floor(((next - freely) * 1000) / rate) };
  };
}

describe("tokenBucket against nginx's limit_req", () => {
  const settings = fc.record({
    burst: fc.nat(20),
    delay: fc.oneof(fc.constant("all" as const), fc.constant("none" as const), fc.nat(10)),
  });

  /** What nginx would make a call wait, from the verdict alone. */
  function waitOf(delayMs: number, delay: "all" | "none" | number, perSecond: number): number {
    if (delay === "none") return 0;
    return Math.max(0, delayMs - (delay === "all" ? 0 : (delay * 1000) / perSecond));
  }

  test("where nginx need not round, every answer and every delay is the same", () => {
    fc.assert(
      fc.property(
        // A rate in whole calls per second loses nothing on whole milliseconds.
        fc.integer({ min: 1, max: 2000 }),
        settings,
        calls(1, 600),
        (perSecond, { burst, delay }, hits) => {
          const nginx = limitReq({ rate: perSecond * 1000, burst, delay });
          const bucket = trial(tokenBucket({ rate: perSecond, per: "1s", burst: burst + 1 }));
          let now = start;
          for (const { gap } of hits) {
            now += gap;
            const { allowed, delayMs } = bucket.consume(now);
            const wanted = nginx(now);
            expect(allowed).toBe(wanted.allowed);
            if (!allowed) continue;
            const waitMs = waitOf(delayMs as number, delay, perSecond);
            expect(Math.floor(waitMs + 1e-6)).toBe(wanted.delayMs);
          }
        },
      ),
    );
  });

  test("where nginx rounds, it stays within a thousandth of a call per call", () => {
    fc.assert(
      fc.property(
        // Calls per minute: nginx keeps thousandths of a call per second, so 10 r/m is 0.166 r/s.
        fc.integer({ min: 1, max: 600 }),
        settings,
        calls(1, 3000),
        (perMinute, { burst, delay }, hits) => {
          const rate = Math.floor((perMinute * 1000) / 60);
          const nginx = limitReq({ rate, burst, delay });
          const bucket = trial(tokenBucket({ rate, per: 1_000_000, burst: burst + 1 }));
          let now = start;
          for (const [i, { gap }] of hits.entries()) {
            now += gap;
            const slackMs = ((i + 1) * 1000) / rate;
            const { allowed, delayMs, retryAfterMs } = bucket.consume(now);
            const wanted = nginx(now);
            if (allowed !== wanted.allowed) {
              // Only where the two straddle the limit by that rounding; from there on they may part.
              const overMs = allowed ? burst * (1e6 / rate) - (delayMs as number) : retryAfterMs;
              expect(overMs).toBeLessThanOrEqual(slackMs + 1);
              return;
            }
            if (!allowed) continue;
            const waitMs = waitOf(delayMs as number, delay, rate / 1000);
            expect(Math.abs(waitMs - wanted.delayMs)).toBeLessThanOrEqual(slackMs + 1);
          }
        },
      ),
    );
  });

  test("nginx's own example: rate=1r/s burst=5 lets six in at once, and then one a second", () => {
    const bucket = trial(tokenBucket({ rate: "1 per second", burst: 6 }));
    const passed = [0, 0, 0, 0, 0, 0, 0, 999, 1000, 1000].map((at) => bucket.consume(start + at).allowed);
    expect(passed).toEqual([true, true, true, true, true, true, false, false, true, false]);
  });
});
