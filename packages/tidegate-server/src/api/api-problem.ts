import { STATUS_CODES } from "node:http";
import type { ProblemAnswer } from "./types.js";

/** A no of the API's own, thrown by whoever finds it. */
export class ApiProblem extends Error {
  readonly answer: ProblemAnswer;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    problem: Pick<ProblemAnswer, "status" | "code" | "detail"> & Partial<ProblemAnswer>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(problem.detail);
    this.answer = { type: "about:blank", title: STATUS_CODES[problem.status] ?? "Error", ...problem };
    this.headers = headers;
  }
}

export function notFound(detail: string, help: string): ApiProblem {
  return new ApiProblem({ status: 404, code: "TG_NOT_FOUND", detail, help });
}

export function badRequest(path: string, detail: string, help: string): ApiProblem {
  return new ApiProblem({
    status: 400,
    code: "TG_REQUEST",
    path,
    detail: `${path}: ${detail}`,
    help,
  });
}
