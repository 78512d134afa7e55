import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The answer that Node still owes on a connection. */
export function answerOwed(socket: Duplex & { _httpMessage?: unknown }): ServerResponse | undefined {
  return (socket._httpMessage as ServerResponse | null | undefined) ?? undefined;
}

export function isAnswering(socket: Duplex): boolean {
  return answerOwed(socket) !== undefined;
}
