import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type Problem, problemText } from "../problem.js";

/** Answers where there is no response object, on the socket itself, and ends it. */
export function answerRaw(
  socket: Duplex,
  problem: Omit<Problem, "title">,
  headers: readonly string[] = [],
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const title = STATUS_CODES[problem.status] as string;
  const body = problemText({ ...problem, title });
  const head = [
    `HTTP/1.1 ${problem.status} ${title}`,
    ...headers,
    "Connection: close",
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
  ].join("\r\n");
  socket.end(`${head}\r\n\r\n${body}`, () => socket.destroy());
}
