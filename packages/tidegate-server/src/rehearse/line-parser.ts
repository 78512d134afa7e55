import type { LoggedRequest } from "./logged-request.js";

/**
 * What one line tells: a request; `"skipped"`, which is none and is not meant to be (a comment, another kind of event, what
 * was never HTTP); or undefined, a line that can not be read.
 */
export type Parsed = LoggedRequest | "skipped" | undefined;

/**
 * Reads `text` from `from` to `to`, one line without its end; `view` has the same as bytes. Kept for one file: what its head
 * says holds below.
 */
export type LineParser = (text: string, from: number, to: number, view: DataView) => Parsed;

export interface ParserTerms {
  /** Answers the client's address, from the peer's and what the log tells of headers. Default: the peer's own. */
  readonly clientOf?: ((peer: string, header: (name: string) => string | undefined) => string) | undefined;
}

export interface LogFormat {
  readonly name: string;
  /** Whether a line looks like one of these, to tell formats apart. */
  isLike(line: string): boolean;
  open(terms: ParserTerms): LineParser;
  /** What a log of this kind can not tell, in sentences. */
  readonly notes?: readonly string[];
  /** Its times are whole seconds. */
  readonly isCoarse?: boolean;
}
