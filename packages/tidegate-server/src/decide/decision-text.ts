import type { Decision, Verdict } from "tidegate";
import { type HeaderForms, limitHeaders } from "tidegate/http";

/** Writes a decision as JSON, as `DecisionAnswer` has it. By hand: `JSON.stringify` would take as long as the decision itself. */
export function decisionWriter(forms: HeaderForms): (decision: Decision, canFinish: boolean) => string {
  const headersOf = limitHeaders(forms);

  function headersText(decision: Decision): string {
    let text = "";
    for (const [name, value] of headersOf(decision)) {
      const told = name === "RateLimit-Policy" ? quoted(value) : JSON.stringify(value);
      text += `${text === "" ? "" : ","}${quoted(name)}:${told}`;
    }
    const wait = retryAfterSeconds(decision);
    if (wait !== undefined) text += `${text === "" ? "" : ","}"Retry-After":"${wait}"`;
    return text;
  }

  return (decision, canFinish) => {
    const { id, allowed, reason, verdict, verdicts, source, delayedMs, listed } = decision;
    let spoken = "";
    let all = "";
    for (let i = 0; i < verdicts.length; i++) {
      const one = verdicts[i] as Verdict;
      const text = verdictText(one);
      if (one === verdict) spoken = text;
      all += i === 0 ? text : `,${text}`;
    }
    if (verdict !== undefined && spoken === "") spoken = verdictText(verdict);
    return (
      `{"id":"${id}","allowed":${allowed},"reason":"${reason}",` +
      (spoken === "" ? "" : `"verdict":${spoken},`) +
      `"verdicts":[${all}],"source":"${source}","delayedMs":${delayedMs}` +
      (listed === undefined ? "" : `,"listed":${JSON.stringify(listed)}`) +
      (canFinish ? `,"finish":"${id}"` : "") +
      `,"headers":{${headersText(decision)}}}`
    );
  };
}

/** For whoever may know it: refused by a rule that shows no numbers, a client is told no time either. */
function retryAfterSeconds({ allowed, verdict, exposed }: Decision): number | undefined {
  if (allowed || verdict === undefined || !exposed.includes(verdict)) return undefined;
  return Number.isFinite(verdict.retryAfterMs) ? Math.ceil(verdict.retryAfterMs / 1000) : undefined;
}

function verdictText(verdict: Verdict): string {
  const { tier, delayMs, estimate, heldUntil, crossed, id } = verdict;
  let more = "";
  if (tier !== undefined) more += `,"tier":${JSON.stringify(tier)}`;
  if (delayMs !== undefined) more += `,"delayMs":${number(delayMs)}`;
  if (estimate !== undefined) more += `,"estimate":${number(estimate)}`;
  if (heldUntil !== undefined) more += `,"heldUntil":${number(heldUntil)}`;
  if (crossed !== undefined) more += `,"crossed":${crossed}`;
  if (id !== undefined) more += `,"id":${JSON.stringify(id)}`;
  const { start, terms } = levelText(verdict);
  return (
    `${start}${written(verdict.key)},"allowed":${verdict.allowed},"shadow":${verdict.shadow},` +
    `"cost":${number(verdict.cost)}${terms}${number(verdict.remaining)},"resetAfterMs":${number(verdict.resetAfterMs)},` +
    `"retryAfterMs":${number(verdict.retryAfterMs)},"at":${number(verdict.at)},"source":"${verdict.source}"${more}}`
  );
}

interface LevelText {
  readonly rule: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly start: string;
  readonly terms: string;
}

const levels = new Map<string, LevelText>();

/** What all verdicts of a level have in common, made once: `{"rule":"api","name":"api/60","key":` and `,"limit":100,"windowMs":60000,"remaining":`. */
function levelText({ rule, name, limit, windowMs }: Verdict): LevelText {
  const known = levels.get(name);
  if (known?.limit === limit && known.windowMs === windowMs && known.rule === rule) return known;
  if (levels.size >= mostKnown) levels.clear();
  const start = `{"rule":${JSON.stringify(rule)},"name":${JSON.stringify(name)},"key":`;
  const terms = `,"limit":${number(limit)},"windowMs":${number(windowMs)},"remaining":`;
  const made = { rule, limit, windowMs, start, terms };
  levels.set(name, made);
  return made;
}

const known = new Map<string, string>();
const mostKnown = 1000;

/** For texts of which there are few: names of headers, and what policies say in them. */
function quoted(text: string): string {
  let written = known.get(text);
  if (written === undefined) {
    if (known.size >= mostKnown) known.clear();
    written = JSON.stringify(text);
    known.set(text, written);
  }
  return written;
}

const plain = /^[\w.:/-]*$/;

/** Most keys are addresses or digests, which need no escapes: to see that takes less than to have them written. */
function written(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** JSON knows no infinity: "never" is null. */
function number(value: number): string {
  return Number.isFinite(value) ? `${value}` : "null";
}
