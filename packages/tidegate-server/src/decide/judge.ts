import type { DecideOptions, Decision, Gate, Subject } from "tidegate";
import { decideAtOnce } from "tidegate/http";
import type { PolicyNotes } from "./policy-notes.js";
import { QuestionError, ruleUnknown } from "./problems.js";
import type { WaitingFinishes } from "./waiting-finishes.js";

export interface JudgeOptions {
  readonly gate: Gate;
  readonly notes: () => PolicyNotes;
  /** Undefined: nobody will say how a request ended. */
  readonly waiting: WaitingFinishes | undefined;
  /** Told of everyone asked about. */
  readonly track: ((subject: Subject) => void) | undefined;
  /** Told how a request ended, where its caller tells. */
  readonly onEnded: DecisionEnded | undefined;
}

export type DecisionEnded = (decision: Decision, status: number | undefined) => void;

/** The gate, for callers that may or may not say how a request ended. */
export interface Judge {
  /** Throws `QuestionError` for a rule that is not there; for strangers hidden ones and those in shadow are not. */
  validateRule(rule: string | undefined, isBelieved: boolean): void;
  /** At once where the store answers at once. */
  decide(subject: Subject, options: DecideOptions): Decision | Promise<Decision>;
  /** Keeps a decision that has an end to hear of, if its caller will tell; else ends it now: no answer counts. */
  settle(decision: Decision, willFinish: boolean): boolean;
}

export function judgeOf({ gate, notes, waiting, track, onEnded }: JudgeOptions): Judge {
  const decide = decideAtOnce(gate);

  function needsFinish({ allowed, verdicts }: Decision): boolean {
    const { finishing } = notes();
    if (!allowed || finishing.size === 0) return false;
    return verdicts.some(({ rule }) => finishing.has(rule));
  }

  return {
    validateRule(rule, isBelieved) {
      if (rule === undefined) return;
      const known = notes().rules.get(rule);
      const isHidden = known?.expose === false || known?.mode === "shadow";
      if (known === undefined || (isHidden && !isBelieved)) throw new QuestionError(ruleUnknown(rule));
    },
    decide:
      track === undefined
        ? decide
        : (subject, options) => {
            track(subject);
            return decide(subject, options);
          },
    settle(decision, willFinish) {
      if (!needsFinish(decision)) return false;
      if (willFinish && waiting !== undefined) {
        waiting.add(onEnded === undefined ? decision : toldOf(decision, onEnded));
        return true;
      }
      void decision.finish();
      return false;
    },
  };
}

/** The same decision, whose end is told of. */
function toldOf(decision: Decision, onEnded: DecisionEnded): Decision {
  return {
    ...decision,
    finish(outcome) {
      onEnded(decision, outcome?.status);
      return decision.finish(outcome);
    },
  };
}
