import { signal } from "@preact/signals";
import type { ProblemAnswer } from "./types.ts";

/** A no of the API, in its own words. */
export class Problem extends Error {
  readonly answer: ProblemAnswer;
  /** Of what has changed meanwhile: by what it is known now. */
  readonly etag: string | undefined;

  constructor(answer: ProblemAnswer, etag?: string) {
    super(answer.detail);
    this.answer = answer;
    this.etag = etag;
  }
}

/** Sent with every change: only a page of this host can know it. */
export const csrf = signal("");

/** False from the first request that nobody answered until the next one that somebody did. */
export const isReachable = signal(true);

/** Counts up whenever the API says that nobody is signed in. */
export const signedOut = signal(0);

export type Method = "GET" | "PUT" | "POST" | "DELETE";

/** As what a thing was seen before it is changed: by its tag, or null where there was none. Undefined: that does not matter. */
export type Seen = string | null | undefined;

/** A change is made only if what it is about is still as it was `seen`. */
export async function ask<Answer>(
  method: Method,
  path: string,
  body?: unknown,
  seen?: Seen,
): Promise<Answer> {
  return (await askTagged<Answer>(method, path, body, seen)).answer;
}

/** The same, with the tag of what was answered. */
export async function askTagged<Answer>(
  method: Method,
  path: string,
  body?: unknown,
  seen?: Seen,
): Promise<{ readonly answer: Answer; readonly etag: string | undefined }> {
  const response = await reach(method, path, body, seen);
  const answer = await response.json().catch(() => undefined);
  const etag = response.headers.get("etag") ?? undefined;
  if (response.ok && answer !== undefined) return { answer: answer as Answer, etag };
  if (response.status === 401 && path !== "/v1/login") signedOut.value++;
  throw new Problem(isProblem(answer) ? answer : unreadable(response.status), etag);
}

async function reach(method: Method, path: string, body: unknown, seen: Seen): Promise<Response> {
  try {
    const response = await fetch(path, {
      method,
      headers: {
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...(method !== "GET" && csrf.value !== "" && { "Tidegate-Csrf": csrf.value }),
        ...(typeof seen === "string" && { "If-Match": seen }),
        ...(seen === null && { "If-None-Match": "*" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: "error",
    });
    isReachable.value = true;
    return response;
  } catch {
    isReachable.value = false;
    throw new Problem({
      type: "about:blank",
      title: "No answer",
      status: 0,
      code: "",
      detail: "The server does not answer.",
      ...(isChange(method, path) && { help: "Look whether the change was made before you make it again." }),
    });
  }
}

/** Some questions are too long for a GET. */
const questions = /^\/v1\/(?:explain|rehearse|policy\/validate|lists\/[^/]+\/preview|login)$/;

function isChange(method: Method, path: string): boolean {
  return method !== "GET" && !questions.test(path);
}

function isProblem(answer: unknown): answer is ProblemAnswer {
  return typeof answer === "object" && answer !== null && "detail" in answer && "code" in answer;
}

function unreadable(status: number): ProblemAnswer {
  return {
    type: "about:blank",
    title: "Unreadable",
    status,
    code: "",
    detail: `The server answered ${status}, and nothing one could read.`,
  };
}

/** What went wrong, of anything that was thrown. */
export function problemOf(error: unknown): ProblemAnswer {
  if (error instanceof Problem) return error.answer;
  throw error;
}

/** A part of a path. */
export function part(text: string): string {
  // "." and ".." would be taken for folders, however they are written.
  return encodeURIComponent(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%2E"));
}
