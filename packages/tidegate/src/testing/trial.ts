import { type Check, verdictOf } from "../check.js";
import type { Verdict } from "../decision.js";
import { type Limit, maxCells, Reading, Ruling } from "../limit.js";

/** One key under one constant-state limit, no store around it, with the time said at each call. */
export interface Trial {
  consume(at: number, cost?: number): Verdict;
  peek(at: number, cost?: number): Verdict;
  /** Gives a verdict's charge back, or so much as if charged just now. */
  refund(at: number, charge: Verdict | number): void;
  /** From now on by these numbers. */
  change(limit: Limit): void;
}

export function trial(limit: Limit): Trial {
  const cells = new Float64Array(maxCells);
  const ruling = new Ruling();
  const reading = new Reading();
  const check: Check = { rule: "trial", key: "k", limit };

  function ask(now: number, cost: number, isPeek: boolean): Verdict {
    limit.step(cells, 0, now, cost, ruling);
    if (!isPeek) {
      if (ruling.allowed) cells.set(ruling.ifAllowed);
      else if (limit.refusedWeight > 0) cells.set(ruling.ifRefused);
    }
    limit.read(cells, 0, now, cost, reading);
    return verdictOf({ ...check, limit, cost }, check.key, ruling, reading, ruling.allowed, now, 0);
  }

  return {
    consume: (at, cost = 1) => ask(at, cost, false),
    peek: (at, cost = 1) => ask(at, cost, true),
    refund(now, charge) {
      if (typeof charge === "number") return limit.refund(cells, 0, now, { ...check, cost: charge });
      const { cost, at, resetAfterMs } = charge;
      limit.refund(cells, 0, now, { ...check, cost, at, resetAfterMs });
    },
    change(next) {
      limit = next;
    },
  };
}

/** The most that was let through in any stretch of this length, (t - lengthMs, t]. `passed` is in order of time. */
export function mostWithin(
  lengthMs: number,
  passed: readonly { readonly at: number; readonly cost: number }[],
): number {
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const { at, cost } of passed) {
    sum += cost;
    while ((passed[first]?.at as number) <= at - lengthMs) sum -= passed[first++]?.cost as number;
    most = Math.max(most, sum);
  }
  return most;
}
