import type { Verdict } from "../decision.js";
import type { Questions } from "./questions.js";

/** How long a request has to wait before it passes, or is asked about again. */
export interface Delay {
  /** Who asks for it. */
  readonly verdict: Verdict;
  readonly forMs: number;
  /** The longest a request may wait in all under these rules. */
  readonly atMostMs: number;
}

/** What a leaky bucket keeps waiting although it was let in: the longest wait its rules ask for. */
export function delayBeforePassing(questions: Questions, answers: readonly Verdict[]): Delay | undefined {
  return longest(questions, answers, ({ delayMs = 0 }) => delayMs);
}

/** How long until a refused request may be asked about again. Undefined when a rule refuses that does not delay. */
export function delayBeforeAsking(questions: Questions, answers: readonly Verdict[]): Delay | undefined {
  for (const { rule, from, to } of questions.asked) {
    if (rule.maxDelayMs === 0 && answers.slice(from, to).some(refuses)) return undefined;
  }
  return longest(questions, answers, (verdict) => (refuses(verdict) ? verdict.retryAfterMs : 0));
}

function refuses({ allowed, shadow }: Verdict): boolean {
  return !allowed && !shadow;
}

function longest(
  { asked }: Questions,
  answers: readonly Verdict[],
  waitOf: (verdict: Verdict) => number,
): Delay | undefined {
  let delay: Delay | undefined;
  for (const { rule, isShadow, from, to } of asked) {
    if (rule.maxDelayMs === 0 || isShadow) continue;
    for (let i = from; i < to; i++) {
      const verdict = answers[i] as Verdict;
      const forMs = waitOf(verdict);
      if (forMs === 0) continue;
      const atMostMs = Math.min(delay?.atMostMs ?? rule.maxDelayMs, rule.maxDelayMs);
      delay =
        delay !== undefined && delay.forMs >= forMs ? { ...delay, atMostMs } : { verdict, forMs, atMostMs };
    }
  }
  return delay;
}
