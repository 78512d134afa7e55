import { isPromised } from "../app-functions.js";
import { type Charge, type Check, costOf } from "../check.js";
import { type AnyDecision, type Reason, type Source, spokesman, type Verdict } from "../decision.js";
import type { ListEntry } from "../directory.js";
import type { Outcome } from "../subject.js";
import type { Question, Questions } from "./questions.js";
import type { Rule } from "./rules.js";

/** A decision before it is given away. */
export type Draft = { -readonly [Name in keyof AnyDecision]: AnyDecision[Name] };

export const nothingToFinish = (): Promise<void> => Promise.resolve();
const none: readonly Verdict[] = [];

/** A decision no verdict is needed for. */
export function plainDecision(id: string, allowed: boolean, reason: Reason, listed?: ListEntry): Draft {
  const decision: Draft = {
    id,
    allowed,
    reason,
    verdicts: none,
    source: "store",
    delayedMs: 0,
    exposed: none,
    finish: nothingToFinish,
  };
  if (listed !== undefined) decision.listed = listed;
  return decision;
}

/** What the store's verdicts come to. */
export function decisionFrom(id: string, questions: Questions, answers: readonly Verdict[]): Draft {
  const verdicts = ownVerdicts(questions, answers);
  return decisionBy(id, verdicts, exposedOf(questions, verdicts));
}

/** Of verdicts that all count; those in `exposed` may be shown. */
export function decisionBy(id: string, verdicts: readonly Verdict[], exposed: readonly Verdict[]): Draft {
  const verdict = spokesman(verdicts);
  const source = sourceOf(verdicts);
  if (verdict === undefined) {
    const reason = verdicts.length === 0 ? "no-rule" : "within-limits";
    return { ...plainDecision(id, true, reason), verdicts, source, exposed };
  }
  const { allowed } = verdict;
  const reason = allowed && source === "store" ? "within-limits" : reasonOf(verdicts, allowed);
  return { id, allowed, reason, verdict, verdicts, source, delayedMs: 0, exposed, finish: nothingToFinish };
}

/** Of verdicts of the store that all allow, none in shadow. */
export function decisionWithin(id: string, verdicts: readonly Verdict[]): Draft {
  return {
    id,
    allowed: true,
    reason: "within-limits",
    verdict: spokesman(verdicts) as Verdict,
    verdicts,
    source: "store",
    delayedMs: 0,
    exposed: verdicts,
    finish: nothingToFinish,
  };
}

/** Offences and trust are asked about by checks of their own, which speak only where nothing else of their rule does. */
function ownVerdicts({ asked, hasSilentChecks }: Questions, answers: readonly Verdict[]): readonly Verdict[] {
  if (!hasSilentChecks) return answers;
  const verdicts: Verdict[] = [];
  for (const { isShadow, from, to, ladderAt, trustAt, isWatch } of asked) {
    const ladder = answers[ladderAt];
    const isTrusted = answers[trustAt]?.heldUntil !== undefined;
    for (let i = from; i < to; i++) {
      const verdict = answers[i] as Verdict;
      if (i === ladderAt ? isWatch && isHeld(verdict) : i !== trustAt) verdicts.push(verdict);
      if (ladder?.crossed) markHeld(verdict, ladder);
      if (trustAt >= 0) verdict.shadow = isShadow || (isTrusted && !verdict.allowed);
    }
  }
  return verdicts;
}

/** Not merely refused, as everything may be while the store is out of reach. */
function isHeld({ allowed, heldUntil }: Verdict): boolean {
  return !allowed && heldUntil !== undefined;
}

/** The hit that made a hold begin is refused for as long as the hold lasts. */
function markHeld(verdict: Verdict, { heldUntil, crossed }: Verdict): void {
  if (verdict.allowed || heldUntil === undefined || crossed === undefined) return;
  verdict.heldUntil = heldUntil;
  verdict.crossed = crossed;
  verdict.retryAfterMs = Math.max(verdict.retryAfterMs, Math.ceil(heldUntil - verdict.at));
}

function exposedOf(questions: Questions, verdicts: readonly Verdict[]): readonly Verdict[] {
  if (!questions.hasHidden && !questions.hasSilentChecks) return verdicts;
  const hidden = new Set(questions.asked.flatMap(({ rule, as }) => (rule.isExposed ? [] : [as])));
  return verdicts.filter(({ rule, shadow }) => !shadow && !hidden.has(rule));
}

function sourceOf(verdicts: readonly Verdict[]): Source {
  let source: Source = "store";
  for (let i = 0; i < verdicts.length; i++) {
    const one = (verdicts[i] as Verdict).source;
    if (one === "none") return one;
    if (one !== "store") source = one;
  }
  return source;
}

function reasonOf(verdicts: readonly Verdict[], allowed: boolean): Reason {
  let isBlind = false;
  for (let i = 0; i < verdicts.length; i++) {
    const verdict = verdicts[i] as Verdict;
    if (verdict.shadow || verdict.allowed !== allowed) continue;
    if (!allowed && verdict.heldUntil !== undefined && !verdict.crossed) return "held";
    isBlind ||= verdict.source === "none";
  }
  if (isBlind) return "degraded";
  return allowed ? "within-limits" : "over-limit";
}

/** Whether the store charged a request that is refused after all, because a rule that might have trusted it does not. */
export function isRefusedAfterwards({ asked, checks }: Questions, answers: readonly Verdict[]): boolean {
  for (let i = 0; i < asked.length; i++) {
    if ((asked[i] as Question).trustAt >= 0)
      return checks.every(({ shadow }, at) => shadow === true || answers[at]?.allowed === true);
  }
  return false;
}

/** What is to be done now that the outcome is known. */
export interface Settlement {
  readonly refunds: Charge[];
  readonly forgets: Check[];
  readonly trusts: { readonly rule: string; readonly key: string; readonly forMs: number }[];
}

export function settlement(
  { asked, checks }: Pick<Questions, "asked" | "checks">,
  answers: readonly Verdict[],
  outcome: Outcome,
): Settlement {
  const settled: Settlement = { refunds: [], forgets: [], trusts: [] };
  for (const question of asked) {
    const { rule, from, to, ladderAt, trustAt, isWatch } = question;
    if (isWatch) continue;
    const isKept = countsAs(rule, outcome);
    const isSuccess = succeeded(rule, outcome, isKept);
    if (isSuccess && rule.trust !== undefined && trustAt >= 0) {
      settled.trusts.push({
        rule: rule.trust.rule,
        key: (checks[trustAt] as Check).key,
        forMs: rule.trust.forMs,
      });
    }
    if (isSuccess && rule.clearsOnSuccess) {
      settled.forgets.push(...checks.slice(from, to).filter((_, i) => from + i !== trustAt));
      continue;
    }
    for (let i = from; i < to; i++) {
      const check = checks[i] as Check;
      if (i === ladderAt || i === trustAt) continue;
      if (!isKept || "leaseForMs" in check.limit) addCharge(settled.refunds, check, answers[i] as Verdict);
    }
  }
  return settled;
}

/** A rule with a function of its own knows better what a failure is. */
function succeeded({ options }: Rule, { status }: Outcome, isCounted: boolean): boolean {
  if (status === undefined) return false;
  return typeof options.count === "function" ? !isCounted : status < 400;
}

/** What the app's function can not tell counts. */
function countsAs({ counts }: Rule, outcome: Outcome): boolean {
  if (counts === undefined) return true;
  try {
    const told: unknown = counts(outcome);
    return isPromised(told) || Boolean(told);
  } catch {
    return true;
  }
}

/** Every charge of a request that is refused after all, to be given back: all but what a refused one weighs. */
export function chargesOf({ checks, asked }: Questions, answers: readonly Verdict[]): Charge[] {
  const charges: Charge[] = [];
  for (const { from, to, ladderAt, trustAt } of asked) {
    for (let i = from; i < to; i++) {
      const check = checks[i] as Check;
      const share = 1 - check.limit.refusedWeight;
      if (i === ladderAt || i === trustAt || share <= 0) continue;
      addCharge(charges, { ...check, cost: costOf(check) * share }, answers[i] as Verdict);
    }
  }
  return charges;
}

function addCharge(charges: Charge[], check: Check, { allowed, source, at, resetAfterMs }: Verdict): void {
  if (allowed && source !== "none") charges.push({ ...check, at, source, resetAfterMs });
}
