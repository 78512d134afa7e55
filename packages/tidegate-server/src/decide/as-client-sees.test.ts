import type { Decision, Verdict } from "tidegate";
import { describe, expect, it } from "vitest";
import { asClientSees } from "./as-client-sees.js";

const shown = { rule: "shown", shadow: false } as Verdict;
const hidden = { rule: "hidden", shadow: false } as Verdict;
const shadow = { rule: "shadow", shadow: true } as Verdict;

function seen(decision: Partial<Decision>) {
  const { reason, verdict, verdicts, exposed, listed } = asClientSees(decision as Decision);
  expect(exposed).toEqual(verdicts);
  return { reason, verdict, verdicts, listed };
}

describe("a decision as its client sees it", () => {
  it("has the verdicts of shown rules, and the one that spoke if it is one of these", () => {
    const verdicts = [shown, hidden, shadow];
    const allowed = { allowed: true, reason: "within-limits", verdicts, exposed: [shown, shadow] } as const;
    expect(seen({ ...allowed, verdict: shown })).toEqual({
      reason: "within-limits",
      verdict: shown,
      verdicts: [shown],
    });
    expect(seen({ ...allowed, verdict: hidden })).toEqual({ reason: "within-limits", verdicts: [shown] });
  });

  it("does not tell that a hidden rule applies, refuses or holds", () => {
    const exposed = [shown];
    const verdicts = [shown, hidden];
    for (const reason of ["held", "over-limit"] as const)
      expect(seen({ allowed: false, reason, verdict: hidden, verdicts, exposed })).toEqual({
        reason: "over-limit",
        verdicts: [],
      });
    expect(
      seen({ allowed: true, reason: "within-limits", verdict: hidden, verdicts: [hidden], exposed: [] }),
    ).toEqual({ reason: "no-rule", verdicts: [] });
    expect(seen({ allowed: false, reason: "held", verdict: shown, verdicts, exposed }).reason).toBe("held");
  });

  it("does not tell who listed it, and why", () => {
    const listed = { address: "203.0.113.7", who: "ann", why: "scraper" };
    expect(seen({ allowed: false, reason: "blocklist", verdicts: [], exposed: [], listed })).toEqual({
      reason: "blocklist",
      verdicts: [],
    });
  });
});
