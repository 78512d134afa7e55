import type { Socket } from "node:net";
import type { Readable } from "node:stream";

export interface BodySenderOptions {
  readonly socket: Socket;
  readonly body: Readable;
  /** -1: not told, so it is sent in chunks. */
  readonly contentLength: number;
  readonly onSent: () => void;
  readonly onError: (error: Error) => void;
}

/** Sends a body that comes by and by, never faster than the origin takes it. */
export class BodySender {
  readonly #options: BodySenderOptions;
  #sent = 0;
  #isDone = false;

  constructor(options: BodySenderOptions) {
    this.#options = options;
    options.socket.on("drain", this.#goOn);
    options.body.on("data", this.#send).on("end", this.#end).on("error", this.#fail).on("close", this.#close);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Nobody wants more of it. */
  stop(): void {
    const { socket, body } = this.#options;
    socket.off("drain", this.#goOn);
    body.off("data", this.#send).off("end", this.#end).off("error", this.#fail).off("close", this.#close);
    body.destroy();
  }

  #send = (piece: Buffer): void => {
    const { socket, body, contentLength, onSent } = this.#options;
    if (piece.length === 0) return;
    this.#sent += piece.length;
    socket.cork();
    if (contentLength < 0) socket.write(`${piece.length.toString(16)}\r\n`, "latin1");
    let hasRoom = socket.write(piece);
    if (contentLength < 0) hasRoom = socket.write("\r\n", "latin1");
    socket.uncork();
    if (!hasRoom) body.pause();
    onSent();
  };

  #goOn = (): void => {
    this.#options.body.resume();
  };

  #end = (): void => {
    const { socket, contentLength } = this.#options;
    if (contentLength >= 0 && contentLength !== this.#sent) {
      this.#fail(new Error("The body is not as long as it was said to be."));
      return;
    }
    this.#isDone = true;
    if (contentLength < 0) socket.write("0\r\n\r\n", "latin1");
  };

  #close = (): void => {
    if (!this.#isDone) this.#fail(new Error("The body broke off."));
  };

  #fail = (error: Error): void => {
    this.#options.onError(error);
  };
}
