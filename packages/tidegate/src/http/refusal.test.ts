import { describe, expect, it } from "vitest";
import type { Decision, Verdict } from "../decision.js";
import { refusal, varyByAccept } from "./refusal.js";

const verdict: Verdict = {
  rule: "pro",
  name: "pro/60",
  key: "k",
  allowed: false,
  shadow: false,
  cost: 1,
  limit: 100,
  windowMs: 60_000,
  remaining: 0,
  resetAfterMs: 30_000,
  retryAfterMs: 29_001,
  at: 0,
  source: "store",
};

function refused(facts: Partial<Decision> = {}): Decision {
  const spoken = facts.verdict ?? verdict;
  return {
    id: "d1",
    allowed: false,
    reason: "over-limit",
    verdict: spoken,
    verdicts: [spoken],
    exposed: [spoken],
    source: "store",
    delayedMs: 0,
    finish: async () => {},
    ...facts,
  } as Decision;
}

const headersOf = (decision: Decision) => Object.fromEntries(refusal(decision, 429, undefined).headers);
const problemOf = (decision: Decision) => JSON.parse(refusal(decision, 429, undefined).body as string);

describe("a refusal", () => {
  it("says when to come again in whole seconds, rounded up", () => {
    expect(headersOf(refused())["Retry-After"]).toBe("30");
    expect(headersOf(refused({ verdict: { ...verdict, retryAfterMs: 1 } }))["Retry-After"]).toBe("1");
    expect(problemOf(refused({ verdict: { ...verdict, retryAfterMs: 1 } })).detail).toMatch(/in 1 second\.$/);
  });

  it("names no time for what never passes", () => {
    const never = refused({ verdict: { ...verdict, retryAfterMs: Number.POSITIVE_INFINITY } });
    expect(headersOf(never)).not.toHaveProperty("Retry-After");
    expect(problemOf(never)).not.toHaveProperty("retryAfterMs");
  });

  it("tells the held that their usage is not normal", () => {
    expect(problemOf(refused({ reason: "held" })).type).toMatch(/#abnormal-usage-detected$/);
  });

  it("blames the store, not the client, for what nobody counted", () => {
    const blind = refused({ reason: "degraded", source: "none", verdict: { ...verdict, source: "none" } });
    const { status, headers, body } = refusal(blind, undefined, undefined);
    expect(status).toBe(503);
    expect(Object.fromEntries(headers)["Retry-After"]).toBe("30");
    expect(JSON.parse(body as string)).toEqual({
      type: "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
      title: "Service Unavailable",
      status: 503,
      detail: "This request can not be judged now. Try again in 30 seconds.",
      decision: "d1",
      retryAfterMs: 29_001,
    });
    expect(refusal(blind, 420, undefined).status).toBe(420);
  });

  it("names only rules that are shown", () => {
    const hidden = { ...verdict, name: "hidden/60", retryAfterMs: 5 };
    const decision = refused({ verdicts: [verdict, hidden] });
    expect(problemOf(decision)["violated-policies"]).toEqual(["pro/60"]);
    expect(JSON.stringify(refusal(refused({ exposed: [] }), 429, undefined))).not.toMatch(/pro\/|29001|"30"/);
  });

  it("is made of strings, with the length of its bytes", () => {
    for (const accept of [undefined, "text/plain"]) {
      const { headers, body } = refusal(refused(), 429, accept);
      for (const [, value] of headers) expect(typeof value).toBe("string");
      expect(Object.fromEntries(headers)["Content-Length"]).toBe(`${Buffer.byteLength(body)}`);
    }
  });
});

it.each([
  [undefined, "Accept"],
  ["", "Accept"],
  ["Origin", "Origin, Accept"],
  ["Origin, ACCEPT", "Origin, ACCEPT"],
  ["*", "*"],
  ["Accept-Encoding", "Accept-Encoding, Accept"],
])("Vary %j becomes %j", (existing, expected) => {
  expect(varyByAccept(existing)).toBe(expected);
});
