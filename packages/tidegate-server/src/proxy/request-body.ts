import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/** Its name, when a body outgrew what is taken. */
export const outgrown = "TG_REQUEST_LARGE";

/** How long a client may go on sending what nobody reads, before it is cut off. */
const lingerMs = 2000;

/**
 * A client's body on its way to an upstream, piece by piece and never faster than the upstream takes it. Whatever happens to
 * this stream, the client's connection is left alone: there may still be an answer to write to it.
 */
export class RequestBody extends Readable {
  readonly #req: IncomingMessage;
  readonly #most: number;
  #seen = 0;
  #isAttached = false;

  constructor(req: IncomingMessage, most = Number.POSITIVE_INFINITY) {
    super({ highWaterMark: 65_536 });
    this.#req = req;
    this.#most = most;
    // Whoever reads it hears of errors; when nobody does any more, they are nobody's.
    this.on("error", ignore);
  }

  /** Nothing was read from it yet. */
  get isFresh(): boolean {
    return !this.#isAttached;
  }

  override _read(): void {
    if (!this.#isAttached) {
      this.#isAttached = true;
      this.#req.on("data", this.#take).on("end", this.#end).on("close", this.#cut).on("error", this.#cut);
    }
    this.#req.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (this.#isAttached) {
      this.#req.off("data", this.#take).off("end", this.#end).off("close", this.#cut);
      this.#req.pause();
    }
    done(error);
  }

  #take = (piece: Buffer): void => {
    this.#seen += piece.length;
    if (this.#seen > this.#most)
      this.destroy(Object.assign(new Error("The body is too large."), { code: outgrown }));
    else if (!this.push(piece)) this.#req.pause();
  };

  #end = (): void => {
    this.push(null);
  };

  #cut = (): void => {
    if (!this.#req.complete) this.destroy(new Error("The client went away."));
  };
}

/** After an answer that did not wait for the body: the rest is read and dropped for a while, so that the client sees the answer. */
export function dropRest(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return;
  req.on("error", ignore);
  req.resume();
  setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, lingerMs).unref();
}

function ignore(): void {}
