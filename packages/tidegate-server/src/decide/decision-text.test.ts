import fc from "fast-check";
import type { Decision, Verdict } from "tidegate";
import { describe, expect, it } from "vitest";
import { decisionWriter } from "./decision-text.js";

const number = fc.oneof(fc.double({ noNaN: true }), fc.integer());
const text = fc.string({ unit: "binary" });
const verdictOf = fc.record<Verdict>(
  {
    rule: text,
    name: text,
    key: text,
    allowed: fc.boolean(),
    shadow: fc.boolean(),
    cost: number,
    limit: number,
    windowMs: number,
    remaining: number,
    resetAfterMs: number,
    retryAfterMs: number,
    at: number,
    source: fc.constantFrom("store", "local", "none"),
    tier: text,
    delayMs: number,
    estimate: number,
    heldUntil: number,
    crossed: fc.boolean(),
    id: text,
  },
  {
    requiredKeys: [
      "rule",
      "name",
      "key",
      "allowed",
      "shadow",
      "cost",
      "limit",
      "windowMs",
      "remaining",
      "resetAfterMs",
      "retryAfterMs",
      "at",
      "source",
    ],
  },
);

describe("a decision written by hand", () => {
  it("is what JSON.stringify would write, whatever stands in it", () => {
    const write = decisionWriter(false);
    fc.assert(
      fc.property(
        fc.array(verdictOf, { maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
        (verdicts, allowed, isListed) => {
          const plain = {
            id: "abc-1",
            allowed,
            reason: "over-limit",
            ...(verdicts[0] && { verdict: verdicts[0] }),
            verdicts,
            source: "store",
            delayedMs: 0,
            ...(isListed && { listed: { address: "203.0.113.7", why: '"\n' } }),
          };
          const decision = { ...plain, exposed: [], finish: async () => {} } as unknown as Decision;
          const expected = JSON.parse(JSON.stringify({ ...plain, headers: {} }));
          expect(JSON.parse(write(decision, false))).toEqual(expected);
          expect(JSON.parse(write(decision, true))).toEqual({ ...expected, finish: "abc-1" });
        },
      ),
    );
  });

  it("tells each level's own terms, also when a level of that name has others by now", () => {
    const write = decisionWriter("draft-11");
    const few = fc.constantFrom(1, 60, 1000);
    const name = fc.constantFrom("a", "b", 'say "c"');
    const levels = fc.record({ rule: name, name, limit: few, windowMs: few });
    fc.assert(
      fc.property(verdictOf, levels, (one, level) => {
        const verdict = { ...one, ...level, allowed: true, shadow: false, remaining: 1, resetAfterMs: 1 };
        const decision = { allowed: true, verdict, verdicts: [verdict], exposed: [verdict], delayedMs: 0 };
        const told = JSON.parse(write(decision as unknown as Decision, false));
        expect(told.verdicts).toEqual([JSON.parse(JSON.stringify(verdict))]);
        const quoted = JSON.stringify(level.name);
        const seconds = Math.ceil(level.windowMs / 1000);
        expect(told.headers["RateLimit-Policy"]).toBe(`${quoted};q=${level.limit};w=${seconds}`);
      }),
    );
  });
});
