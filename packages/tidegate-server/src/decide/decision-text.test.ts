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
});
