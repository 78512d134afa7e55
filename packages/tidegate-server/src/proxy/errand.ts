import type { Readable } from "node:stream";
import type { AnswerSink } from "./answer-reader.js";
import type { Guest } from "./guest.js";
import type { OriginConnection } from "./origin-connection.js";
import type { UpstreamError } from "./upstream-error.js";

/** A request as an origin gets it. */
export interface Sending {
  readonly method: string;
  readonly path: string;
  /** "": the origin's own name. */
  readonly host: string;
  /** Name, value, name, value; without Host and what says how long the body is. */
  readonly headers: readonly string[];
  /** Of a body that comes by and by, -1 where it is not told. */
  readonly contentLength: number;
  body: Buffer | Readable | null;
}

/** A request that is to be sent to an origin, and hears of its answer. */
export interface Errand extends AnswerSink {
  readonly sending: Sending;
  /** Who wants it, as shares are counted. */
  readonly clientKey: string;
  /** Set by the origin, from `send` to `release`. */
  guest: Guest | undefined;
  /** The connection it is on, to be given back by `release`. */
  connection: OriginConnection | undefined;
  /** It was not sent, and never will be. */
  onTurnedAway(error: UpstreamError): void;
  /** It waits for a connection. */
  onWait(): void;
  /** Told every `glanceMs` while it has a connection. */
  onGlance(): void;
  /** Told every `turnMs` while it has a connection. */
  onTurn(turnMs: number): void;
  /** It is about to be sent. */
  onConnect(): void;
  /** A piece of its body is on its way. */
  onBodySent(): void;
  /** All that came so far was told, and more is to come. */
  onRead(): void;
  onComplete(): void;
  /** There will be no answer, or no more of it. */
  onError(error: Error): void;
}
