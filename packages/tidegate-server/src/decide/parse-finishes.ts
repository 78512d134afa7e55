import { badQuestion, QuestionError } from "./problems.js";

/** How one request ended. */
export interface Finish {
  readonly id: string;
  /** Undefined: nobody answered. */
  readonly status: number | undefined;
}

const mostFinishes = 1000;

/** Reads `{ id, status }`, or `{ decisions: [...] }` of such. Throws `QuestionError`. */
export function parseFinishes(body: unknown): { finishes: Finish[]; isMany: boolean } {
  const many = (body as { decisions?: unknown } | null)?.decisions;
  if (many === undefined) return { finishes: [finishOf(body, "The body")], isMany: false };
  if (!Array.isArray(many) || many.length > mostFinishes)
    throw bad(`decisions is not a list of ${mostFinishes} at most.`);
  return { finishes: many.map((each, i) => finishOf(each, `decisions[${i}]`)), isMany: true };
}

function finishOf(value: unknown, where: string): Finish {
  const { id, status } = (value ?? {}) as { id?: unknown; status?: unknown };
  if (typeof id !== "string" || id === "" || id.length > 64)
    throw bad(`${where} has no id. Send {"id":"…","status":200}: the id is what the decision has as finish.`);
  if (status === undefined || status === null) return { id, status: undefined };
  if (typeof status === "number" && Number.isInteger(status) && status >= 100 && status <= 599)
    return { id, status };
  throw bad(`${where}.status is not a status of HTTP, a whole number from 100 to 599.`);
}

function bad(detail: string): QuestionError {
  return new QuestionError(badQuestion(detail));
}
