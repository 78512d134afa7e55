import type { Decision } from "../decision.js";
import { preferredType } from "./accept.js";
import { type Header, isHiddenRefusal, wholeSeconds } from "./headers.js";

/** `Set-Cookie` may have several values. */
export type AnswerHeader = readonly [name: string, value: string | string[]];

/** What goes back to the client, whatever the framework. */
export interface Answer {
  readonly status: number;
  /** Later ones replace earlier ones of the same name. */
  readonly headers: readonly AnswerHeader[];
  readonly body: string | Uint8Array;
}

export interface UsualAnswer extends Answer {
  readonly headers: readonly Header[];
}

/** An answer of the app's own: a text, parts of an answer, or a `Response`. What it leaves out stays as it would be. */
export type OwnRefusal =
  | string
  | Response
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** A text, or anything to be sent as JSON. */
      readonly body?: unknown;
    };

interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly decision?: string;
  readonly rule?: string;
  readonly retryAfterMs?: number;
  readonly "violated-policies"?: readonly string[];
}

const blocklistedStatus = 403;
const overLimitStatus = 429;
const unavailableStatus = 503;
const registry = "https://iana.org/assignments/http-problem-types";
const unavailableTitle = "Service Unavailable";
const reducedCapacity = `${registry}#temporary-reduced-capacity`;

/**
 * The answer to a refused request. `status` is the app's, if it has one, for all but the blocklisted: they get 403. Without
 * one those over a limit get 429, and those nobody counted, since the store is out of reach, 503.
 */
export function refusal(
  decision: Decision,
  status: number | undefined,
  accept: string | undefined,
): UsualAnswer {
  return answerOf(problemOf(decision, status), accept);
}

/** The answer to a request that nobody could judge, where such are not to pass. */
export function unavailable(accept: string | undefined): UsualAnswer {
  const detail = "This request can not be judged now. Try again later.";
  return answerOf(
    { type: "about:blank", title: unavailableTitle, status: unavailableStatus, detail },
    accept,
  );
}

function answerOf(problem: Problem, accept: string | undefined): UsualAnswer {
  const type = preferredType(accept);
  const body = type === "text/plain" ? textOf(problem) : JSON.stringify(problem);
  const headers: Header[] = [
    ["Content-Type", type === "text/plain" ? "text/plain; charset=utf-8" : type],
    ["Content-Length", `${lengthOf(body)}`],
    ["Cache-Control", "no-store"],
  ];
  if (problem.decision !== undefined) headers.push(["Tidegate-Decision", problem.decision]);
  if (problem.retryAfterMs !== undefined)
    headers.push(["Retry-After", `${wholeSeconds(problem.retryAfterMs)}`]);
  return { status: problem.status, headers, body };
}

/** `Vary` with Accept added to what stands there. */
export function varyByAccept(existing: string | undefined): string {
  if (existing === undefined || existing === "") return "Accept";
  const names = existing.split(",").map((name) => name.trim().toLowerCase());
  return names.includes("accept") || names.includes("*") ? existing : `${existing}, Accept`;
}

function problemOf(decision: Decision, ownStatus: number | undefined): Problem {
  const { id, reason, verdict } = decision;
  if (reason === "blocklist") {
    return {
      type: "about:blank",
      title: "Forbidden",
      status: blocklistedStatus,
      detail: "This address is blocked.",
      decision: id,
    };
  }
  if (reason === "degraded") return blindProblem(decision, ownStatus);
  const status = ownStatus ?? overLimitStatus;
  const type = status === unavailableStatus ? reducedCapacity : `${registry}#quota-exceeded`;
  const title = "Too many requests";
  if (verdict === undefined || isHiddenRefusal(decision)) {
    return { type, title, status, detail: "Too many requests. Try again later.", decision: id };
  }
  const told = { rule: verdict.name, "violated-policies": refusedNames(decision) };
  if (verdict.retryAfterMs === Number.POSITIVE_INFINITY) {
    return { type, title, status, detail: "This request can not pass.", decision: id, ...told };
  }
  const { retryAfterMs } = verdict;
  const heldType = reason === "held" ? `${registry}#abnormal-usage-detected` : type;
  const detail = `${reason === "held" ? "Held for too many requests." : "Too many requests."} Try again in ${inWords(retryAfterMs)}.`;
  return { type: heldType, title, status, detail, decision: id, retryAfterMs, ...told };
}

/** Nobody counted: the client has broken no quota, and is told of none. */
function blindProblem({ id, verdict }: Decision, status = unavailableStatus): Problem {
  const { retryAfterMs = Number.POSITIVE_INFINITY } = verdict ?? {};
  const isKnown = Number.isFinite(retryAfterMs);
  return {
    type: reducedCapacity,
    title: unavailableTitle,
    status,
    detail: `This request can not be judged now. Try again ${isKnown ? `in ${inWords(retryAfterMs)}` : "later"}.`,
    decision: id,
    ...(isKnown && { retryAfterMs }),
  };
}

function refusedNames({ exposed }: Decision): string[] {
  return exposed.filter(({ allowed, shadow }) => !allowed && !shadow).map(({ name }) => name);
}

function textOf({ detail, decision }: Problem): string {
  return decision === undefined ? `${detail}\n` : `${detail}\nDecision ${decision}\n`;
}

function inWords(ms: number): string {
  const seconds = wholeSeconds(ms);
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}

const encoder = new TextEncoder();

export function lengthOf(body: string | Uint8Array): number {
  return (typeof body === "string" ? encoder.encode(body) : body).byteLength;
}
