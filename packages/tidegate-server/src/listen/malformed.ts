import type { Socket } from "node:net";
import type { Log } from "../log.js";
import { printableStart } from "../printable.js";
import type { Problem } from "../problem.js";

/** What node:http says of a request it could not read. */
export interface ParseFailure extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

/** How a request that can not be read is answered; undefined where nobody is there any more. */
export function malformedProblem({ code }: ParseFailure): Omit<Problem, "title"> | undefined {
  switch (code) {
    case "ECONNRESET":
    case "EPIPE":
      return undefined;
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, code: "TG_REQUEST", detail: "The headers are too large." };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, code: "TG_REQUEST", detail: "The chunk extensions are too large." };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, code: "TG_REQUEST", detail: "The request did not arrive in time." };
    default:
      return { status: 400, code: "TG_REQUEST", detail: "This is not a request of HTTP/1.1." };
  }
}

/** Notes it. Of what was sent only the beginning of a request line is shown, without its query: the rest may hold secrets. */
export function logMalformed(log: Log, listener: string, failure: ParseFailure, socket: Socket): void {
  const { code, reason, rawPacket } = failure;
  const line = /^[a-z]{1,20} [^?\r\n]*/i.exec(rawPacket?.toString("latin1", 0, 200) ?? "")?.[0];
  log.debug(
    {
      listener,
      peer: socket.remoteAddress,
      failure: code,
      ...(reason !== undefined && { reason: printableStart(reason, 100) }),
      ...(line !== undefined && { line: printableStart(line, 120) }),
    },
    "a request could not be read",
  );
}
