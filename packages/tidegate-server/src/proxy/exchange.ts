import type { IncomingMessage } from "node:http";
import { endInOnePiece, longestJoined } from "../end-in-one-piece.js";
import { sendProblem } from "../problem.js";
import type { Errand, Sending } from "./errand.js";
import type { OnFailed } from "./failure-log.js";
import type { Guest } from "./guest.js";
import type { Origin } from "./origin.js";
import { problems } from "./problems.js";
import type { ProxyResponse } from "./proxy-response.js";
import { copyOf } from "./read-into.js";
import { ReaderWatch } from "./reader-watch.js";
import { dropRest, outgrown, RequestBody, tooSlow } from "./request-body.js";
import type { RequestHead } from "./request-head.js";
import { responseHead } from "./response-head.js";
import type { Tally } from "./traffic-meters.js";
import type { Upstream } from "./upstream.js";
import { late, type UpstreamError, unhealthy, upstreamError } from "./upstream-error.js";

/** What all exchanges with one upstream share. */
export interface Passage {
  readonly upstream: Upstream;
  readonly tally: Tally;
  readonly onFailed: OnFailed;
  readonly maxBodyBytes: number | undefined;
  /** How long an upstream may take until its answer begins. */
  readonly responseTimeoutMs: number;
  /** How long either side may leave the other waiting in the middle of a message. */
  readonly idleTimeoutMs: number;
  readonly isListed: boolean;
  readonly onGivenWay: (name: string) => void;
  /** Told once of each request: when its answer has begun and gone out, or without it where that takes longer than a moment. */
  readonly onUnderWay: ((req: IncomingMessage) => void) | undefined;
  /** It is over, with this status; undefined: the client left. */
  readonly onEnded: ((req: IncomingMessage, status: number | undefined) => void) | undefined;
}

const safe = new Set(["GET", "HEAD", "OPTIONS"]);

/** One request's way to an origin and its answer's way back. */
export class Exchange implements Errand {
  readonly sending: Sending;
  readonly clientKey: string;
  connection: Errand["connection"];
  guest: Guest | undefined;
  readonly #passage: Passage;
  readonly #req: IncomingMessage;
  readonly #res: ProxyResponse;
  readonly #startedAt = performance.now();
  readonly #hasBody: boolean;
  #origin: Origin | undefined;
  #isRetry = false;
  #isConnected = false;
  #isAnswered = false;
  #isOver = false;
  #isTold = false;
  #isGlancedAt = false;
  #isGone = false;
  /** The client has to take more before the origin may send more. */
  #isPaused = false;
  /** In which nothing was heard from the origin, though it was its turn. */
  #quietTurns = 0;
  #reader: ReaderWatch | undefined;
  /** The answer's head, until something of its body is there, or a turn has passed. */
  #status = 0;
  #headers: string[] | undefined;
  #contentLength = -1;
  /** The whole body, if it came with the head: borrowed until the answer is complete, which is at once. */
  #whole: Buffer | undefined;

  constructor(
    passage: Passage,
    req: IncomingMessage,
    res: ProxyResponse,
    head: RequestHead,
    clientKey: string,
  ) {
    this.clientKey = clientKey;
    this.#passage = passage;
    this.#req = req;
    this.#res = res;
    const { path, method, host, headers, contentLength } = head;
    this.#hasBody = head.hasBody;
    this.sending = { path, method, host, headers, contentLength, body: null };
  }

  start(): void {
    this.#passage.tally.active++;
    this.#res.on("close", () => this.#clientLeft());
    if (this.#hasBody) process.nextTick(startWithBody, this);
    else this.#ask(this.#passage.upstream.pick());
  }

  /** A body that came with its head goes on in one piece: a stream for it costs more than all the rest. */
  startWithBody(): void {
    if (this.#isGone) {
      this.#over(undefined);
      return;
    }
    const isHere = this.#req.readableLength === this.sending.contentLength;
    const { maxBodyBytes, idleTimeoutMs } = this.#passage;
    this.sending.body = isHere
      ? this.#req.read()
      : new RequestBody({ req: this.#req, most: maxBodyBytes, idleTimeoutMs });
    this.#ask(this.#passage.upstream.pick());
  }

  onTurnedAway(error: UpstreamError): void {
    this.#fail(error);
  }

  onWait(): void {
    this.#tell();
  }

  onGlance(): void {
    // The first glance may come at once.
    if (this.#isGlancedAt) this.#tell();
    this.#isGlancedAt = true;
  }

  onTurn(turnMs: number): void {
    // A body that is still to come is watched as it comes.
    const isComing = this.#status === 0 && this.sending.body instanceof RequestBody && !this.#req.complete;
    if (!this.#isConnected || this.#isPaused || isComing) return;
    // The first turn may have been a short one.
    const quietMs = this.#quietTurns++ * turnMs;
    const { responseTimeoutMs, idleTimeoutMs } = this.#passage;
    if (this.#status === 0) {
      if (quietMs >= responseTimeoutMs) this.#abort(late());
    } else if (quietMs >= idleTimeoutMs) this.#abort(late());
  }

  onConnect(): void {
    this.#isConnected = true;
    if (this.#isGone) this.#abort();
    else if (this.#res.isContinueAsked && this.sending.body !== null) this.#res.sendContinue();
  }

  /** While its answer has not begun, taking the body is all an origin can do. */
  onBodySent(): void {
    if (this.#status === 0) this.#quietTurns = 0;
  }

  onBegun(): void {
    this.#isAnswered = true;
  }

  onHead(status: number, raw: readonly string[]): void {
    this.#quietTurns = 0;
    if (status < 200) return;
    const { isListed, onGivenWay } = this.#passage;
    const head = responseHead({ status, raw, res: this.#res, isListed, onGivenWay });
    this.#status = status;
    this.#headers = head.headers;
    this.#contentLength = head.contentLength;
  }

  onData(piece: Buffer): void {
    this.#quietTurns = 0;
    if (this.#headers !== undefined && piece.length === this.#contentLength) {
      this.#whole = piece;
      return;
    }
    this.#begin();
    // What has to wait must not keep a slab alive in which it is but a little.
    if (!this.#res.write(this.#res.writableLength > 0 ? copyOf(piece) : Buffer.from(piece))) this.#pause();
  }

  /** The head is not kept from a client while the body is awaited. */
  onRead(): void {
    if (this.#headers === undefined) return;
    this.#begin();
    // As all else in heads; `flushHeaders` would say it in UTF-8.
    this.#res.write("", "latin1");
  }

  onComplete(): void {
    if (this.#isOver) return;
    this.#begin();
    this.#over(this.#status);
    this.#end();
    if (this.#res.writableLength > 0) this.#watch().expect();
    if (this.sending.body !== null) dropRest(this.#req, this.#res);
  }

  onError(error: Error): void {
    if (this.#isOver) return;
    if (this.#isGone) {
      this.#over(undefined);
      return;
    }
    const { code } = Object(error);
    if (code === outgrown || code === tooSlow) {
      const problem = code === outgrown ? problems.large : problems.slowBody;
      this.#over(problem.status);
      sendProblem(this.#res, problem, code === tooSlow ? { Connection: "close" } : {});
      dropRest(this.#req, this.#res);
      return;
    }
    const known = upstreamError(error, this.#isConnected);
    const mayRetry = this.#mayRetry(known);
    // A kept connection ends now and then: that is no failure as long as it is made up for.
    if (!(mayRetry && known.isClosed)) this.#passage.onFailed(this.#origin?.url.origin, error);
    if (known.isUnsent) this.#origin?.rest();
    if (mayRetry) this.#retry();
    else this.#fail(known);
  }

  /** Writes the head, unless it is written. */
  #begin(): void {
    const headers = this.#headers;
    if (headers === undefined) return;
    this.#headers = undefined;
    this.#res.writeHead(this.#status, headers);
    this.#tell();
  }

  #end(): void {
    const whole = this.#whole;
    if (whole !== undefined && whole.length <= longestJoined)
      endInOnePiece(this.#res, whole.toString("latin1"));
    else this.#res.end(whole && copyOf(whole));
  }

  #tell(): void {
    const { onUnderWay } = this.#passage;
    if (this.#isTold || onUnderWay === undefined) return;
    this.#isTold = true;
    setImmediate(onUnderWay, this.#req);
  }

  #ask(origin: Origin | undefined): void {
    this.#origin = origin;
    if (origin === undefined) this.#fail(unhealthy);
    else origin.send(this);
  }

  #mayRetry({ isUnsent, isClosed }: UpstreamError): boolean {
    if (this.#isRetry) return false;
    const { body } = this.sending;
    if (isUnsent)
      return this.#passage.upstream.origins.length > 1 && !(body instanceof RequestBody && !body.isFresh);
    return isClosed && !this.#isAnswered && body === null && safe.has(this.sending.method);
  }

  #retry(): void {
    this.#isRetry = true;
    this.#isConnected = false;
    this.#quietTurns = 0;
    const tried = this.#origin as Origin;
    tried.release(this);
    this.#ask(this.#passage.upstream.pick(tried));
  }

  #fail({ kind, problem }: UpstreamError): void {
    const { tally, upstream } = this.#passage;
    tally.failed(kind);
    this.#over(problem.status);
    const isLater = problem.status === 503;
    sendProblem(this.#res, problem, isLater ? { "Retry-After": `${upstream.retryAfterSeconds}` } : {});
    if (this.sending.body !== null) dropRest(this.#req, this.#res);
  }

  #pause(): void {
    this.#isPaused = true;
    this.connection?.pause();
    const isFirst = this.#reader === undefined;
    // The watch hears of it first: going on may mean to wait again.
    this.#watch().expect();
    if (isFirst) this.#res.on("drain", () => this.#goOn());
  }

  #goOn(): void {
    this.#isPaused = false;
    this.#quietTurns = 0;
    this.connection?.resume();
  }

  #watch(): ReaderWatch {
    this.#reader ??= new ReaderWatch(this.#res, this.#passage.idleTimeoutMs);
    return this.#reader;
  }

  #clientLeft(): void {
    if (this.#isOver) return;
    this.#isGone = true;
    if (this.#origin?.forget(this)) this.#over(undefined);
    else if (this.#isConnected) this.#abort();
  }

  #abort(error = new Error("The client left.")): void {
    this.connection?.abort(error);
  }

  /** Once: what was borrowed is given back, what happened is counted. */
  #over(status: number | undefined): void {
    this.#isOver = true;
    this.#passage.tally.ended(status, performance.now() - this.#startedAt);
    if (this.connection !== undefined) this.#origin?.release(this);
    this.#passage.onEnded?.(this.#req, status);
  }
}

function startWithBody(exchange: Exchange): void {
  exchange.startWithBody();
}
