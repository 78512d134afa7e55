import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { late } from "./upstream-error.js";

/** Its name, when a body outgrew what is taken. */
export const outgrown = "TG_REQUEST_LARGE";
/** And when nothing more of it came. */
export const tooSlow = "TG_REQUEST_SLOW";

/** How long a client may go on sending what nobody reads, once it has its answer; if nothing comes, so much less. */
const mostLingerMs = 30_000;
const lingerMs = 2000;

export interface RequestBodyOptions {
  readonly req: IncomingMessage;
  /** In bytes; undefined: any size. */
  readonly most: number | undefined;
  /** How long nothing may come or be taken. */
  readonly idleTimeoutMs: number;
}

/**
 * A client's body on its way to an upstream, piece by piece and never faster than the upstream takes it. Whatever happens to
 * this stream, the client's connection is left alone: there may still be an answer to write to it.
 */
export class RequestBody extends Readable {
  readonly #req: IncomingMessage;
  readonly #most: number;
  readonly #idleTimeoutMs: number;
  #seen = 0;
  #isAttached = false;
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ req, most = Number.POSITIVE_INFINITY, idleTimeoutMs }: RequestBodyOptions) {
    super({ highWaterMark: 65_536 });
    this.#req = req;
    this.#most = most;
    this.#idleTimeoutMs = idleTimeoutMs;
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
      this.#timer = setTimeout(this.#late, this.#idleTimeoutMs).unref();
      this.#req.on("data", this.#take).on("end", this.#end).on("close", this.#cut).on("error", this.#cut);
      // What is told once was told before.
      if (this.#req.destroyed) this.#cut();
    } else this.#timer?.refresh();
    this.#isHeld = false;
    this.#req.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    if (this.#isAttached) this.#req.off("data", this.#take).off("end", this.#end).off("close", this.#cut);
    done(error);
  }

  #take = (piece: Buffer): void => {
    this.#timer?.refresh();
    this.#seen += piece.length;
    if (this.#seen > this.#most) this.destroy(failure("The body is too large.", outgrown));
    else if (!this.push(piece)) {
      this.#isHeld = true;
      this.#req.pause();
    }
  };

  #end = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.push(null);
  };

  #late = (): void => {
    this.destroy(this.#isHeld ? late() : failure("The body does not come.", tooSlow));
  };

  #cut = (): void => {
    if (!this.#req.complete) this.destroy(new Error("The client went away."));
  };
}

/** Of a request whose answer does not wait for its body: the rest is read and dropped until a while after the answer, so that the client sees it. */
export function dropRest(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete || req.destroyed) return;
  req.on("error", ignore);
  req.resume();
  const linger = (untilMs: number, seen: number): void => {
    setTimeout(() => {
      if (req.complete) return;
      const { bytesRead } = req.socket;
      if (bytesRead === seen || performance.now() >= untilMs) req.socket.destroy();
      else linger(untilMs, bytesRead);
    }, lingerMs).unref();
  };
  const begin = (): void => linger(performance.now() + mostLingerMs, req.socket.bytesRead);
  if (res.writableFinished) begin();
  else res.once("finish", begin);
}

function failure(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

function ignore(): void {}
