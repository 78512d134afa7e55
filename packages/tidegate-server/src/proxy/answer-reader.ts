import { type AnswerHead, Malformed, parseAnswerHead } from "./answer-head.js";
import { Chunks } from "./chunks.js";

/** Who hears of an answer while it is read. */
export interface AnswerSink {
  /** The first byte is there. */
  onBegun(): void;
  /** Of the answer itself, or with a status below 200 of one that only says to wait. */
  onHead(status: number, headers: string[]): void;
  /** `piece` is theirs until the call returns; what is to be kept has to be copied. */
  onData(piece: Buffer): void;
}

export interface AnswerReaderOptions {
  /** The request's: the answer to HEAD has no body, whatever it says. */
  readonly method: string;
  readonly mostHeadBytes: number;
  readonly sink: AnswerSink;
}

const headEnd = Buffer.from("\r\n\r\n");
/** Somebody means it for one. */
const bareEnd = Buffer.from("\n\n");
/** Answers that only say to wait, before one that says more. */
export const mostInterim = 64;
const longestKeepAliveMs = 600_000;
const usualKeepAliveMs = 4000;
/** An origin that closes after so many seconds is not asked in the last one. */
const marginMs = 1000;

/**
 * Reads one answer of HTTP/1 from the bytes of a connection. It takes no more than a client would have to: whatever two readers
 * might understand differently is `Malformed`, and nothing behind the answer's end belongs to anybody.
 */
export class AnswerReader {
  readonly #method: string;
  readonly #mostHeadBytes: number;
  readonly #sink: AnswerSink;
  #place: "head" | "length" | "chunks" | "close" | "over" = "head";
  #hasBegun = false;
  #interim = 0;
  /** Of a head that comes in several pieces. */
  #begun: Buffer | undefined;
  #left = 0;
  #chunks: Chunks | undefined;
  #isKept = false;
  #keepAliveMs = usualKeepAliveMs;

  constructor({ method, mostHeadBytes, sink }: AnswerReaderOptions) {
    this.#method = method;
    this.#mostHeadBytes = mostHeadBytes;
    this.#sink = sink;
  }

  get isOver(): boolean {
    return this.#place === "over";
  }

  /** How long the connection may be used again once this answer is over; 0: it may not. */
  get keepAliveMs(): number {
    return this.#isKept ? this.#keepAliveMs : 0;
  }

  /** Reads what came. It may change `bytes`. */
  take(bytes: Buffer): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#sink.onBegun();
    }
    let at = 0;
    let from = bytes;
    while (this.#place === "head" && at < from.length) {
      if (this.#begun !== undefined) {
        from = Buffer.concat([this.#begun, from.subarray(at)]);
        at = 0;
      }
      at = this.#readHead(from, at);
    }
    if (at < from.length) this.#readBody(from, at);
  }

  /** The origin has said all it will. False: it broke off in the middle. */
  end(): boolean {
    if (this.#place === "close") this.#place = "over";
    return this.isOver;
  }

  #readHead(bytes: Buffer, at: number): number {
    // What was looked through before has no end in it, but may have the beginning of one.
    const seen = Math.max(0, (this.#begun?.length ?? 0) - headEnd.length + 1);
    const end = bytes.indexOf(headEnd, at + seen);
    if ((end < 0 ? bytes.length : end) - at > this.#mostHeadBytes)
      throw new Malformed("Its head is too large.");
    const bare = bytes.indexOf(bareEnd, at);
    if (bare >= 0 && (end < 0 || bare < end)) throw new Malformed("Its lines do not end as they should.");
    if (end < 0) {
      this.#begun = Buffer.from(bytes.subarray(at));
      return bytes.length;
    }
    this.#begun = undefined;
    this.#understand(parseAnswerHead(bytes.toString("latin1", at, end)));
    return end + headEnd.length;
  }

  #understand(head: AnswerHead): void {
    const { status, headers } = head;
    if (status < 200) {
      if (status === 101 || ++this.#interim > mostInterim)
        throw new Malformed("It is of a protocol that was not asked for.");
    } else this.#frame(head);
    this.#sink.onHead(status, headers);
  }

  #frame({ status, contentLength, isChunked, isHttp10, connection, keepAlive }: AnswerHead): void {
    const isBodiless = this.#method === "HEAD" || status === 204 || status === 304;
    this.#isKept = !says(connection, "close") && (!isHttp10 || says(connection, "keep-alive"));
    // Some send a body all the same, behind which the next answer would be.
    if (this.#method === "HEAD" || (isBodiless && (contentLength > 0 || isChunked))) this.#isKept = false;
    if (keepAlive !== "") this.#keepAliveMs = hintedMs(keepAlive);
    if (isBodiless || contentLength === 0) this.#place = "over";
    else if (contentLength > 0) {
      if (!Number.isSafeInteger(contentLength)) throw new Malformed("It is longer than can be counted.");
      this.#place = "length";
      this.#left = contentLength;
    } else if (isChunked) {
      this.#place = "chunks";
      this.#chunks = new Chunks(this.#mostHeadBytes);
    } else {
      this.#place = "close";
      this.#isKept = false;
    }
  }

  #readBody(bytes: Buffer, at: number): void {
    if (this.#place === "close") this.#sink.onData(bytes.subarray(at));
    else if (this.#place === "length") this.#readLength(bytes, at);
    else if (this.#place === "chunks") this.#readChunks(bytes, at, this.#chunks as Chunks);
    // Nobody asked for what comes behind an answer.
    else this.#isKept = false;
  }

  #readLength(bytes: Buffer, at: number): void {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#place = "over";
    if (end < bytes.length) this.#isKept = false;
    this.#sink.onData(bytes.subarray(at, end));
  }

  #readChunks(bytes: Buffer, at: number, chunks: Chunks): void {
    const { to, next } = chunks.read(bytes, at);
    if (chunks.isOver) this.#place = "over";
    if (next < bytes.length) this.#isKept = false;
    if (to > at) this.#sink.onData(bytes.subarray(at, to));
  }
}

let lastHint = "";
let lastHintedMs = 0;

/** An origin mostly says the same. */
function hintedMs(keepAlive: string): number {
  if (keepAlive === lastHint) return lastHintedMs;
  lastHint = keepAlive;
  lastHintedMs = keptMs(keepAlive);
  return lastHintedMs;
}

function keptMs(keepAlive: string): number {
  const seconds = /\btimeout=(\d{1,9})\b/i.exec(keepAlive)?.[1];
  if (seconds === undefined) return usualKeepAliveMs;
  return Math.min(longestKeepAliveMs, Math.max(0, Number(seconds) * 1000 - marginMs));
}

function says(connection: string, option: string): boolean {
  return connection.includes(option) && connection.split(",").some((each) => each.trim() === option);
}
