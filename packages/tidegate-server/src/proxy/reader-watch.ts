import type { ServerResponse } from "node:http";

/** What a client takes of its answer at the least, in bytes per second. */
const leastPace = 1024;

/**
 * Cuts off a client that leaves its answer unread: one that takes nothing for the idle time, and one that takes it by the
 * byte, so that what waits for it is not gone after the idle time and a second for each kilobyte.
 */
export class ReaderWatch {
  readonly #res: ServerResponse;
  readonly #idleTimeoutMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(res: ServerResponse, idleTimeoutMs: number) {
    this.#res = res;
    this.#idleTimeoutMs = idleTimeoutMs;
    res.on("drain", () => this.#drained()).on("close", () => clearTimeout(this.#timer));
  }

  /** More is written than the client has taken. */
  expect(): void {
    const { socket, writableLength } = this.#res;
    socket?.setTimeout(this.#idleTimeoutMs);
    clearTimeout(this.#timer);
    const withinMs = this.#idleTimeoutMs + (writableLength / leastPace) * 1000;
    this.#timer = setTimeout(() => this.#res.destroy(), withinMs).unref();
  }

  #drained(): void {
    clearTimeout(this.#timer);
    this.#res.socket?.setTimeout(0);
  }
}
