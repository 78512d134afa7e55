import type { ServerResponse } from "node:http";

/** A clear no, as RFC 9457 has it. `code` is one of docs/errors.md. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly code: string;
}

export function problemText({ status, title, detail, code }: Problem): string {
  return JSON.stringify({ type: "about:blank", title, status, detail, code });
}

/** Answers with a problem, unless an answer is already under way: that one is cut, so that nobody takes it for whole. */
export function sendProblem(
  res: ServerResponse,
  problem: Problem,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (res.headersSent) {
    // To HTTP/1.0 the end of a connection may be that of the answer.
    if (res.req.httpVersion === "1.0") res.socket?.resetAndDestroy();
    else res.destroy();
    return;
  }
  const body = problemText(problem);
  res.writeHead(problem.status, {
    ...headers,
    "Content-Type": "application/problem+json",
    "Content-Length": `${Buffer.byteLength(body)}`,
    "Cache-Control": "no-store",
  });
  res.end(res.req.method === "HEAD" ? undefined : body);
}
