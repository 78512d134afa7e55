import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision, Verdict } from "../decision.js";
import { type HeaderForms, limitHeaders } from "./headers.js";

function verdict(facts: Partial<Verdict> = {}): Verdict {
  return {
    rule: "api",
    name: "api/60",
    key: "k",
    allowed: true,
    shadow: false,
    cost: 1,
    limit: 100,
    windowMs: 60_000,
    remaining: 42,
    resetAfterMs: 29_001,
    retryAfterMs: 0,
    at: 1_700_000_000_500,
    source: "store",
    ...facts,
  };
}

function decision(verdicts: readonly Verdict[], facts: Partial<Decision> = {}): Decision {
  const allowed = verdicts.every((each) => each.allowed || each.shadow);
  return {
    id: "d1",
    allowed,
    reason: allowed ? "within-limits" : "over-limit",
    ...(verdicts[0] !== undefined && { verdict: verdicts[0] }),
    verdicts,
    exposed: verdicts,
    source: "store",
    delayedMs: 0,
    finish: async () => {},
    ...facts,
  } as Decision;
}

const written = (given: Decision, forms?: HeaderForms) => Object.fromEntries(limitHeaders(forms)(given));

describe("limit headers", () => {
  it("are two lists of named members, seconds rounded up", () => {
    const levels = [
      verdict(),
      verdict({ name: "api/86400", limit: 1000, windowMs: 86_400_000, remaining: 7 }),
    ];
    expect(written(decision(levels))).toEqual({
      "RateLimit-Policy": '"api/60";q=100;w=60, "api/86400";q=1000;w=86400',
      RateLimit: '"api/60";r=42;t=30, "api/86400";r=7;t=30',
    });
  });

  it("tell each level's own policy, whichever levels were told together before", () => {
    const policies: Record<string, string> = {
      "a/60": '"a/60";q=100;w=60',
      "b/60": '"b/60";q=100;w=60',
      "c/60": '"c/60";q=100;w=60',
    };
    const names = fc.array(fc.constantFrom(...Object.keys(policies)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(names, { maxLength: 8 }), (told) => {
        for (const together of told) {
          const levels = together.map((name) => verdict({ name }));
          const expected = together.map((name) => policies[name]).join(", ");
          expect(written(decision(levels))["RateLimit-Policy"]).toBe(expected);
        }
      }),
    );
  });

  it("tell each client its own numbers, whatever others were told before", () => {
    const level = fc.record({
      name: fc.constantFrom("a/60", "b/60"),
      remaining: fc.oneof(fc.nat(5), fc.nat(2 ** 40)),
      resetAfterMs: fc.oneof(fc.nat(5000), fc.constant(Number.POSITIVE_INFINITY)),
    });
    const levels = fc.array(level, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(levels, { maxLength: 40 }), (told) => {
        for (const together of told) {
          const expected = together.map(({ name, remaining, resetAfterMs }) =>
            Number.isFinite(resetAfterMs)
              ? `"${name}";r=${remaining};t=${Math.ceil(resetAfterMs / 1000)}`
              : `"${name}";r=${remaining}`,
          );
          expect(written(decision(together.map(verdict))).RateLimit).toBe(expected.join(", "));
        }
      }),
    );
  });

  it("give a refused client nothing until it may come again", () => {
    const refused = verdict({ allowed: false, remaining: 3, cost: 5, resetAfterMs: 90_000, retryAfterMs: 1 });
    expect(written(decision([refused])).RateLimit).toBe('"api/60";r=0;t=1');
  });

  it("give no time to what never passes", () => {
    const never = verdict({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY });
    expect(written(decision([never])).RateLimit).toBe('"api/60";r=0');
    expect(written(decision([never]), "draft-7").RateLimit).toBe("limit=100, remaining=0, reset=60");
  });

  it("write whole numbers of at most fifteen digits, and windows of at least a second", () => {
    const odd = verdict({ name: "odd", limit: 2.5, windowMs: 250, remaining: 1.9, resetAfterMs: 0.5 });
    expect(written(decision([odd]))).toEqual({
      "RateLimit-Policy": '"odd";q=2;w=1',
      RateLimit: '"odd";r=1;t=1',
    });
    const huge = verdict({
      name: "huge",
      limit: Number.MAX_SAFE_INTEGER,
      remaining: Number.MAX_SAFE_INTEGER,
    });
    expect(written(decision([huge]))["RateLimit-Policy"]).toBe('"huge";q=999999999999999;w=60');
    expect(written(decision([huge])).RateLimit).toBe('"huge";r=999999999999999;t=30');
  });

  it("can not be broken out of by a name", () => {
    const hostile = verdict({ name: 'a";r=9,\\\r\nX: y\u00e9' });
    expect(written(decision([hostile])).RateLimit).toBe('"a\\";r=9,\\\\??X: y?";r=42;t=30');
  });

  it("follow a level whose numbers change", () => {
    const name = "changing";
    expect(written(decision([verdict({ name, limit: 5 })]))["RateLimit-Policy"]).toBe('"changing";q=5;w=60');
    expect(written(decision([verdict({ name, limit: 9 })]))["RateLimit-Policy"]).toBe('"changing";q=9;w=60');
    expect(written(decision([verdict({ name, limit: 9, windowMs: 1000 })]))["RateLimit-Policy"]).toBe(
      '"changing";q=9;w=1',
    );
  });

  it("stay right for more names than are kept", () => {
    for (let i = 0; i < 9000; i++) {
      const name = `n${i}`;
      expect(written(decision([verdict({ name, limit: i })]))["RateLimit-Policy"]).toBe(
        `"${name}";q=${i};w=60`,
      );
    }
  });

  it("say nothing of shadow rules, of hidden rules, or of no rule", () => {
    expect(written(decision([verdict({ shadow: true })]))).toEqual({});
    expect(written(decision([verdict()], { exposed: [] }))).toEqual({});
    expect(written(decision([]))).toEqual({});
  });

  it("say nothing at all when a hidden rule refused", () => {
    const hidden = verdict({ allowed: false, retryAfterMs: 5000 });
    const shown = verdict({ name: "other" });
    expect(written(decision([hidden, shown], { exposed: [shown] }))).toEqual({});
  });

  it("speak of the tightest level in forms that know one", () => {
    const levels = [verdict(), verdict({ name: "tight", limit: 10, remaining: 1 })];
    expect(written(decision(levels), "draft-7")).toEqual({
      "RateLimit-Policy": "10;w=60",
      RateLimit: "limit=10, remaining=1, reset=30",
    });
    expect(written(decision(levels), ["draft-6", "legacy"])).toEqual({
      "RateLimit-Policy": "10;w=60",
      "RateLimit-Limit": "10",
      "RateLimit-Remaining": "1",
      "RateLimit-Reset": "30",
      "X-RateLimit-Limit": "10",
      "X-RateLimit-Remaining": "1",
      "X-RateLimit-Reset": "1700000030",
    });
  });

  it.each([["draft-12"], [["draft-11", "draft-7"]], [["legacy", "legacy"]], [true], [{}], [["toString"]]])(
    "are refused as %j",
    (forms) => {
      expect(() => limitHeaders(forms as HeaderForms)).toThrow(
        expect.objectContaining({ code: "TG_HEADERS" }),
      );
    },
  );
});
