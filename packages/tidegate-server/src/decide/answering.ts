import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../log.js";
import { type Problem, sendProblem } from "../problem.js";
import { type Caller, type Callers, isProblem } from "./callers.js";
import type { Endpoint } from "./measures.js";
import { failed, QuestionError, wrongType } from "./problems.js";
import { readBody } from "./read-body.js";

/** Answers one question, now or later. Throws `QuestionError` where it can not. */
export type Answer<Told> = (res: ServerResponse, told: Told, caller: Caller) => void | Promise<void>;

export interface Answering {
  /** A question in the body, as JSON. */
  body(endpoint: Endpoint, answer: Answer<unknown>): (req: IncomingMessage, res: ServerResponse) => void;
  /** A question in the query. */
  query(
    endpoint: Endpoint,
    answer: Answer<URLSearchParams>,
  ): (req: IncomingMessage, res: ServerResponse) => void;
}

/** What every question goes through: who asks, what is asked, and what is said when it can not be answered. */
export function answering({ callers, log }: { callers: Callers; log: Log }): Answering {
  function reject(res: ServerResponse, endpoint: Endpoint, problem: Problem): void {
    endpoint.rejected++;
    const headers: Record<string, string> = {};
    if (problem.status === 401) headers["WWW-Authenticate"] = 'Bearer realm="tidegate"';
    if (problem.status === 413) headers.Connection = "close";
    if (problem.status === 429) headers["Retry-After"] = "60";
    sendProblem(res, problem, headers);
  }

  function rejectFor(res: ServerResponse, endpoint: Endpoint, error: unknown): void {
    const isTheirs = error instanceof QuestionError;
    if (!isTheirs) log.error({ err: error }, "a question could not be judged");
    reject(res, endpoint, isTheirs ? error.problem : failed);
  }

  function run<Told>(
    res: ServerResponse,
    endpoint: Endpoint,
    answer: Answer<Told>,
    told: Told,
    caller: Caller,
  ): void {
    const startedAt = performance.now();
    try {
      const answered = answer(res, told, caller);
      if (answered === undefined) endpoint.took(startedAt);
      else
        answered.then(
          () => endpoint.took(startedAt),
          (error) => rejectFor(res, endpoint, error),
        );
    } catch (error) {
      rejectFor(res, endpoint, error);
    }
  }

  return {
    body: (endpoint, answer) => (req, res) => {
      const caller = callers.ofQuestion(req);
      if (isProblem(caller)) reject(res, endpoint, caller);
      else if (!isJsonLike(req.headers["content-type"])) reject(res, endpoint, wrongType);
      else
        readBody(
          req,
          (body) => run(res, endpoint, answer, body, caller),
          (problem) => reject(res, endpoint, problem),
        );
    },
    query: (endpoint, answer) => (req, res) => {
      const caller = callers.ofQuestion(req);
      const query = new URLSearchParams(req.url?.split("?", 2)[1] ?? "");
      if (isProblem(caller)) reject(res, endpoint, caller);
      else run(res, endpoint, answer, query, caller);
    },
  };
}

/** curl's own type for data is let in too: the body says better what it is. */
function isJsonLike(type: string | undefined): boolean {
  if (type === undefined || type === "application/json") return true;
  return /json|^text\/plain|urlencoded|octet-stream|^$/i.test(type);
}
