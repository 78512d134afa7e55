import type { Duplex } from "node:stream";

/** Whether Node still owes an answer on a connection. */
export function isAnswering(socket: Duplex & { _httpMessage?: unknown }): boolean {
  return Boolean(socket._httpMessage);
}
