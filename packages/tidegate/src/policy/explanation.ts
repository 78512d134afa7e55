import type { Verdict } from "../decision.js";
import type { Explanation, RuleExplanation } from "../gate.js";
import type { Draft } from "./judgement.js";
import type { CompiledPolicy } from "./policy.js";
import type { Questions } from "./questions.js";
import type { Request } from "./request.js";
import type { Rule } from "./rules.js";

/** The whole answer to one request in words, rule by rule. */
export function explanationOf(
  policy: CompiledPolicy,
  request: Request,
  decision: Draft,
  questions?: Questions,
): Explanation {
  const rules = policy.rules.map((rule) => explainRule(rule, request, decision, questions));
  return {
    allowed: decision.allowed,
    reason: decision.reason,
    words: words(decision, request),
    ...(decision.verdict && { verdict: decision.verdict }),
    ...(decision.listed && { listed: decision.listed }),
    rules,
  };
}

function words({ allowed, reason, verdict, listed }: Draft, request: Request): string {
  const who = `${request.subject.method} ${request.subject.path} ${whose(request)}`;
  switch (reason) {
    case "off":
      return `${who} passes: the gate, or every rule that would apply, is switched off.`;
    case "safelist":
    case "blocklist":
      return `${who} ${allowed ? "passes" : "is refused"}: ${listed?.address} is on the ${reason}${listed?.who ? `, by ${listed.who}` : ""}${listed?.why ? ` (${listed.why})` : ""}${listed?.until === undefined ? "" : `, until ${new Date(listed.until).toISOString()}`}.`;
    case "no-rule":
      return `${who} passes: no rule applies to it.`;
    case "degraded":
      return `${who} ${allowed ? "passes" : "is refused"}: the store is out of reach and nobody counts.`;
    case "within-limits":
      return `${who} passes. ${verdict === undefined ? "" : sentence(verdict)}`.trim();
    default:
      return `${who} is refused. ${verdict === undefined ? "" : sentence(verdict)}`.trim();
  }
}

/** By its address, or if none was said by whatever else was. */
function whose({ client, subject }: Request): string {
  if (client.address !== undefined || subject.ip !== "") return `from ${client.text}`;
  const { customer, user, account } = subject;
  const named = Object.entries({ customer, user, account }).filter(([, id]) => id !== undefined && id !== "");
  return named.length === 0
    ? "from an unknown address"
    : `of ${named.map(([kind, id]) => `${kind} ${id}`).join(", ")}`;
}

function explainRule(
  rule: Rule,
  request: Request,
  decision: Draft,
  questions: Questions | undefined,
): RuleExplanation {
  const question = questions?.asked.find((asked) => asked.rule === rule);
  const verdicts = decision.verdicts.filter((verdict) => verdict.rule === rule.name);
  if (question === undefined) {
    return { rule: rule.name, applies: false, verdicts, words: whyNot(rule, request, questions) };
  }
  const tier = verdicts.find((verdict) => verdict.tier !== undefined)?.tier;
  return {
    rule: rule.name,
    applies: !question.isWatch,
    key: question.key,
    ...(tier !== undefined && { tier }),
    verdicts,
    words:
      verdicts.length === 0
        ? "It holds its offenders everywhere, and this client is none."
        : verdicts.map(sentence).join(" "),
  };
}

function whyNot(rule: Rule, request: Request, questions: Questions | undefined): string {
  if (rule.isOff) return "It is switched off.";
  if (questions === undefined) return "It was not asked: the decision fell before.";
  if (rule.matches !== undefined && !rule.matches(request.subject, request.readings)) {
    return "It does not apply to this request (only, except).";
  }
  return "It does not apply: the request does not say whom to count (by).";
}

/** One verdict in words. */
function sentence(verdict: Verdict): string {
  const {
    name,
    key,
    allowed,
    shadow,
    limit,
    windowMs,
    remaining,
    retryAfterMs,
    heldUntil,
    at,
    tier,
    estimate,
  } = verdict;
  const subject = `${name}${tier === undefined ? "" : `, tier ${tier}`}, for ${key}`;
  const rate =
    estimate === undefined ? "" : ` Its rate is about ${Number(estimate.toPrecision(3))} a second.`;
  if (heldUntil !== undefined && heldUntil > at)
    return `${subject}: held for another ${time(heldUntil - at)}.${rate}`;
  if (allowed)
    return `${subject}: ${Number(remaining.toPrecision(6))} of ${limit} left in ${time(windowMs)}.${rate}`;
  const would = shadow ? "would be refused (shadow)" : "refused";
  const until = Number.isFinite(retryAfterMs)
    ? `it may come back in ${time(retryAfterMs)}`
    : "such a call can never pass";
  return `${subject}: ${would}, ${limit} in ${time(windowMs)} are used up; ${until}.${rate}`;
}

function time(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)} ms`;
  if (ms < 120_000) return `${Math.ceil(ms / 1000)} s`;
  if (ms < 7_200_000) return `${Math.ceil(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.ceil(ms / 3_600_000)} h`;
  return `${Math.ceil(ms / 86_400_000)} days`;
}
