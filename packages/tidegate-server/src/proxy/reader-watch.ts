import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isAnswering } from "../answering.js";

/** What a client takes of its answer at the least, in bytes per second. */
const leastPace = 1024;

/**
 * Cuts off a client that leaves its answer unread: one that takes nothing for the idle time, and one that takes it by the
 * byte, so that what waits for it is not gone after the idle time and a second for each kilobyte.
 */
export class ReaderWatch {
  readonly #res: ServerResponse;
  readonly #idleTimeoutMs: number;
  readonly #socket: Socket | null;
  #timer: NodeJS.Timeout | undefined;

  constructor(res: ServerResponse, idleTimeoutMs: number) {
    this.#res = res;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#socket = res.socket;
    res.on("drain", () => this.#drained()).on("close", () => clearTimeout(this.#timer));
    // Unless it is listened to, Node ends the connection.
    res.on("finish", () => this.#over()).on("timeout", () => this.#cut());
  }

  /** More is written than the client has taken. */
  expect(): void {
    const { writableLength } = this.#res;
    this.#socket?.setTimeout(this.#idleTimeoutMs);
    clearTimeout(this.#timer);
    const withinMs = this.#idleTimeoutMs + (writableLength / leastPace) * 1000;
    this.#timer = setTimeout(() => this.#cut(), withinMs).unref();
  }

  /** To HTTP/1.0 the end of a connection may be that of the answer. */
  #cut(): void {
    this.#res.socket?.resetAndDestroy();
  }

  #drained(): void {
    clearTimeout(this.#timer);
    this.#socket?.setTimeout(0);
  }

  /** Where the next answer on the connection is due, it has times of its own; where none is, Node sets how long it is kept. */
  #over(): void {
    if (this.#socket !== null && isAnswering(this.#socket)) this.#socket.setTimeout(0);
  }
}
