import type { Decision, Verdict } from "tidegate";
import { type HeaderForms, limitHeaders } from "tidegate/http";

/** Writes a decision as JSON, as `DecisionAnswer` has it. By hand: `JSON.stringify` would take as long as the decision itself. */
export function decisionWriter(forms: HeaderForms): (decision: Decision, canFinish: boolean) => string {
  const headersOf = limitHeaders(forms);

  function headersText(decision: Decision): string {
    let text = "";
    for (const [name, value] of headersOf(decision))
      text += `${text === "" ? "" : ","}${quoted(name)}:${JSON.stringify(value)}`;
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
  return (
    `{"rule":${quoted(verdict.rule)},"name":${quoted(verdict.name)},"key":${JSON.stringify(verdict.key)},` +
    `"allowed":${verdict.allowed},"shadow":${verdict.shadow},"cost":${number(verdict.cost)},"limit":${number(verdict.limit)},` +
    `"windowMs":${number(verdict.windowMs)},"remaining":${number(verdict.remaining)},"resetAfterMs":${number(verdict.resetAfterMs)},` +
    `"retryAfterMs":${number(verdict.retryAfterMs)},"at":${number(verdict.at)},"source":"${verdict.source}"${more}}`
  );
}

const known = new Map<string, string>();
const mostKnown = 1000;

/** For texts of which there are few: names of rules, levels and headers. */
function quoted(text: string): string {
  let written = known.get(text);
  if (written === undefined) {
    if (known.size >= mostKnown) known.clear();
    written = JSON.stringify(text);
    known.set(text, written);
  }
  return written;
}

/** JSON knows no infinity: "never" is null. */
function number(value: number): string {
  return Number.isFinite(value) ? `${value}` : "null";
}
