import { describe, expect, it } from "vitest";
import { type WriteBudget, writeBudget } from "./write-budget.js";

const hourMs = 3_600_000;

function budgetAt(
  now: number,
  burst = 1,
): { budget: WriteBudget; time: { now: number }; say(left: number, inMs: number): void } {
  const time = { now };
  const budget = writeBudget({ burst, clock: () => time.now });
  const say = (left: number, inMs: number): void =>
    budget.learn(
      new Headers({
        "Fastly-RateLimit-Remaining": String(left),
        "Fastly-RateLimit-Reset": String((time.now + inMs) / 1_000),
      }),
    );
  return { budget, time, say };
}

describe("the hour's writes", () => {
  it("the first goes at once, known or not", () => {
    const { budget, time, say } = budgetAt(1e12);
    expect(budget.nextAt("entry")).toBeLessThanOrEqual(time.now);
    say(1_000, hourMs);
    expect(budget.nextAt("entry")).toBeLessThanOrEqual(time.now);
  });

  it.each([
    // left, until the hour ends, then from one to the next
    [1_000, hourMs, (hourMs / 700) * 1.1],
    [1_000_000, hourMs, 250],
    [100, 60_000, (60_000 / 70) * 1.1],
    [10, hourMs, (hourMs / 7) * 1.1],
  ])("with %d left for %d ms one goes every %d ms", (left, inMs, expected) => {
    const { budget, time, say } = budgetAt(1e12);
    say(left, inMs);
    budget.spend("entry");
    expect(budget.nextAt("entry") - time.now).toBeCloseTo(expected, 3);
  });

  it("as many go at once after a rest as there are dictionaries, and no more", () => {
    const { budget, time, say } = budgetAt(1e12, 4);
    say(1_000, hourMs);
    for (let i = 0; i < 4; i++) {
      expect(budget.nextAt("entry")).toBeLessThanOrEqual(time.now);
      budget.spend("entry");
    }
    expect(budget.nextAt("entry")).toBeGreaterThan(time.now);
  });

  it("entries leave three tenths alone, removals do not, and what people order waits for nothing", () => {
    const { budget, time, say } = budgetAt(1e12);
    say(1_000, hourMs);
    say(300, hourMs);
    expect(budget.nextAt("entry")).toBe(time.now + hourMs);
    expect(budget.nextAt("removal")).toBeLessThanOrEqual(time.now);
    budget.spend("removal");
    expect(budget.nextAt("removal")).toBeGreaterThan(time.now);
    expect(budget.nextAt("order")).toBe(time.now);
  });

  it("a reset that wavers by seconds does not shrink the reserve", () => {
    const { budget, time, say } = budgetAt(1e12);
    for (let left = 1_000; left >= 300; left -= 10) say(left, hourMs + (left % 3) * 1_000);
    expect(budget.nextAt("entry")).toBeGreaterThanOrEqual(time.now + hourMs);
  });

  it("a new hour owes the old one nothing", () => {
    const { budget, time, say } = budgetAt(1e12);
    say(1, 60_000);
    for (let i = 0; i < 50; i++) budget.spend("removal");
    time.now += 60_000;
    for (const kind of ["entry", "removal", "order"] as const)
      expect(budget.nextAt(kind)).toBeLessThanOrEqual(time.now);
  });

  it.each([
    ["-1", "1e12"],
    ["99999999999999999999", "1000000060"],
    ["5", "1"],
    ["5", "9999999999"],
    ["NaN", "soon"],
    ["", ""],
  ])("what makes no sense is not believed: %j left until %j", (left, reset) => {
    const { budget, time } = budgetAt(1e12);
    budget.learn(new Headers({ "Fastly-RateLimit-Remaining": left, "Fastly-RateLimit-Reset": reset }));
    expect(budget.nextAt("entry")).toBeLessThanOrEqual(time.now);
  });

  it("stopped, nothing goes until the hour ends, or for a minute where nobody says when", () => {
    const { budget, time, say } = budgetAt(1e12);
    budget.stop(new Headers());
    expect(budget.nextAt("order")).toBe(time.now + 60_000);
    time.now += 60_000;
    say(0, 120_000);
    budget.stop(new Headers());
    expect(budget.nextAt("order")).toBe(time.now + 120_000);
  });
});
