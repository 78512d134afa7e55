import type { Charge, Check } from "../check.js";
import type { Verdict } from "../decision.js";
import type { Limit } from "../limit.js";
import type { Store } from "../store.js";
import type { VirtualClock } from "./virtual-clock.js";

/** A worked example of an algorithm, played on every store. */
export interface Vector {
  readonly title: string;
  readonly limit: Limit;
  readonly steps: readonly VectorStep[];
}

export interface VectorStep {
  /** The time, in milliseconds. */
  readonly at: number;
  /** Default `"consume"`. `"refund"` gives back `cost`, charged at `chargedAt`. */
  readonly act?: "consume" | "peek" | "refund" | "hold" | "forget";
  readonly cost?: number;
  readonly id?: string;
  /** In this step only: the limit as it is after a change of its numbers. */
  readonly limit?: Limit;
  readonly chargedAt?: number;
  readonly resetAfterMs?: number;
  readonly forMs?: number;
  /** Repeats the step; what is expected is expected of each. */
  readonly times?: number;
  readonly expect?: Partial<Verdict>;
}

/** Plays a vector under a rule and key of its own. Answers each step's verdict beside what was expected of it. */
export async function playVector(
  store: Store,
  clock: VirtualClock,
  vector: Vector,
  place: { rule: string; key: string },
): Promise<{ step: VectorStep; index: number; verdict: Verdict }[]> {
  const played: { step: VectorStep; index: number; verdict: Verdict }[] = [];
  for (const [index, step] of vector.steps.entries()) {
    clock.set(step.at);
    const { cost = 1, id, limit = vector.limit } = step;
    const check: Check = { ...place, limit, cost, ...(id !== undefined && { id }) };
    for (let i = 0; i < (step.times ?? 1); i++) {
      if (step.act === "refund") await store.refund([chargeOf(check, step)]);
      else if (step.act === "hold") await store.hold(place.rule, place.key, step.forMs ?? 1000);
      else if (step.act === "forget") await store.forget([check]);
      else {
        const [verdict] = await (step.act === "peek" ? store.peek([check]) : store.decide([check]));
        played.push({ step, index, verdict: verdict as Verdict });
      }
    }
  }
  return played;
}

function chargeOf(check: Check, { chargedAt, resetAfterMs }: VectorStep): Charge {
  return {
    ...check,
    ...(chargedAt !== undefined && { at: chargedAt }),
    ...(resetAfterMs !== undefined && { resetAfterMs }),
  };
}

const times = new Set(["resetAfterMs", "retryAfterMs", "delayMs", "heldUntil", "at"]);

/**
 * In what two verdicts differ, if at all, in the sense in which stores must be equal: `allowed` and `remaining` exactly,
 * times to a millisecond, estimates to 1e-9 relative (below 1e-12 a second all are none).
 */
export function differences(actual: Partial<Verdict>, expected: Partial<Verdict>): string[] {
  return Object.entries(expected).flatMap(([field, wanted]) => {
    const got = actual[field as keyof Verdict];
    if (typeof wanted === "number" && typeof got === "number" && got !== wanted) {
      if (times.has(field) && Math.abs(got - wanted) <= 1) return [];
      if (field === "estimate" && Math.abs(got - wanted) <= 1e-9 * Math.abs(wanted) + 1e-12) return [];
    }
    return Object.is(got, wanted) || (got === 0 && wanted === 0)
      ? []
      : [`${field}: ${got} instead of ${wanted}`];
  });
}
