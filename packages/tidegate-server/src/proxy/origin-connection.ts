import type { Socket } from "node:net";
import { longestJoined } from "../end-in-one-piece.js";
import { AnswerReader } from "./answer-reader.js";
import { BodySender } from "./body-sender.js";
import type { Errand } from "./errand.js";
import { readsInto } from "./read-into.js";
import { requestText } from "./request-text.js";
import { closedByOrigin } from "./upstream-error.js";

/** Opens a socket to the origin. */
export type Dial = (done: (error: Error | null, socket: Socket | null) => void) => void;

export interface OriginConnectionOptions {
  readonly dial: Dial;
  /** What it is called where a request names no host. */
  readonly host: string;
  readonly mostHeadBytes: number;
}

/**
 * A connection to an origin: one request at a time, and a socket that is opened when there is none, kept between requests as
 * long as the origin is said to keep it, and given up for good where an answer leaves any doubt of what comes next on it.
 */
export class OriginConnection {
  /** What is under way on it. */
  errand: Errand | undefined;
  readonly #options: OriginConnectionOptions;
  #socket: Socket | undefined;
  #reader: AnswerReader | undefined;
  #sender: BodySender | undefined;
  #keptUntil = 0;
  /** In which its last answer was over. */
  #completedIn = 0;
  #isClosed = false;

  constructor(options: OriginConnectionOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#socket !== undefined;
  }

  send(errand: Errand): void {
    this.errand = errand;
    this.dropStale(Date.now());
    if (this.#socket === undefined) this.#open();
    else afterReading(this, this.#completedIn === turn);
  }

  /** Everything that had come on its socket meanwhile was read: is it still to be used? */
  goOn(): void {
    if (this.errand === undefined || this.#reader !== undefined) return;
    if (this.#socket === undefined) this.#open();
    else this.#write(this.#socket, this.errand);
  }

  /** Ends what is under way, and the socket with it. */
  abort(error: Error): void {
    const { errand } = this;
    this.#drop();
    this.#reader = undefined;
    if (errand === undefined) return;
    this.errand = undefined;
    tellOf(error, errand);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** Ends a socket that nothing was asked on for too long. */
  dropStale(now: number): void {
    if (this.#reader === undefined && now >= this.#keptUntil) this.#drop();
  }

  close(): void {
    this.#isClosed = true;
    this.abort(closedByOrigin());
  }

  #open(): void {
    try {
      this.#dial();
    } catch (error) {
      this.abort(error as Error);
    }
  }

  #dial(): void {
    this.#options.dial((error, socket) => {
      if (socket === null || this.#isClosed) {
        socket?.destroy();
        this.abort(error ?? closedByOrigin());
        return;
      }
      this.#socket = socket;
      this.#keptUntil = Number.POSITIVE_INFINITY;
      readsInto(socket, (bytes) => this.#take(socket, bytes));
      socket.on("error", (broken) => this.#broke(socket, broken));
      socket.on("end", () => this.#ended(socket));
      socket.on("close", () => this.#broke(socket, closedByOrigin()));
      this.goOn();
    });
  }

  #write(socket: Socket, errand: Errand): void {
    const { sending } = errand;
    const { method, contentLength } = sending;
    const { mostHeadBytes, host } = this.#options;
    this.#reader = new AnswerReader({ method, mostHeadBytes, sink: errand });
    try {
      errand.onConnect();
      if (this.errand !== errand) return;
      const text = requestText(sending, host);
      const { body } = sending;
      if (body === null) socket.write(text, "latin1");
      else if (!Buffer.isBuffer(body)) {
        socket.write(text, "latin1");
        this.#sender = new BodySender({
          socket,
          body,
          contentLength,
          onSent: () => errand.onBodySent(),
          onError: (error) => this.abort(error),
        });
      } else if (body.length <= longestJoined) socket.write(text + body.toString("latin1"), "latin1");
      else {
        socket.cork();
        socket.write(text, "latin1");
        socket.write(body);
        socket.uncork();
      }
    } catch (error) {
      this.abort(error as Error);
    }
  }

  #take(socket: Socket, bytes: Buffer): void {
    if (socket !== this.#socket) return;
    const { errand } = this;
    const reader = this.#reader;
    if (errand === undefined || reader === undefined) {
      // Nobody asked for it. Who waits to be sent gets another socket.
      this.#drop();
      return;
    }
    try {
      reader.take(bytes);
      if (this.errand !== errand) return;
      if (reader.isOver) this.#complete(errand, reader.keepAliveMs);
      else errand.onRead();
    } catch (error) {
      this.abort(error as Error);
    }
  }

  #ended(socket: Socket): void {
    if (socket !== this.#socket) return;
    const { errand } = this;
    if (errand !== undefined && this.#reader?.end()) this.#complete(errand, 0);
    else this.#broke(socket, closedByOrigin());
  }

  #broke(socket: Socket, error: Error): void {
    if (socket !== this.#socket) return;
    if (this.#reader === undefined) this.#drop();
    else this.abort(error);
  }

  /** An origin that answers before it has the whole body gets no more of it, nor anything else on this socket. */
  #complete(errand: Errand, keepAliveMs: number): void {
    const isSent = this.#sender?.isDone ?? true;
    this.#reader = undefined;
    this.errand = undefined;
    if (keepAliveMs > 0 && isSent) {
      this.#keptUntil = Date.now() + keepAliveMs;
      this.#completedIn = thisTurn();
      this.#sender?.stop();
      this.#sender = undefined;
      if (this.#socket?.isPaused()) this.#socket.resume();
    } else this.#drop();
    try {
      errand.onComplete();
    } catch (error) {
      tellOf(error as Error, errand);
    }
  }

  #drop(): void {
    const socket = this.#socket;
    this.#sender?.stop();
    this.#sender = undefined;
    this.#socket = undefined;
    socket?.destroy();
  }
}

/** What an errand throws even then is one request's matter, not the process's. */
function tellOf(error: Error, errand: Errand): void {
  try {
    errand.onError(error);
  } catch {
    // Nobody is left to tell.
  }
}

/** Of the event loop, as far as answers were over in it. */
let turn = 1;
let isTurnCounted = false;

function thisTurn(): number {
  if (!isTurnCounted) {
    isTurnCounted = true;
    setImmediate(endTurn);
  }
  return turn;
}

function endTurn(): void {
  turn++;
  isTurnCounted = false;
}

/** Those to be written to when this turn's reading is done, and when the next one's is. */
let waiting: OriginConnection[] = [];
let waitingLonger: OriginConnection[] = [];
let spare: OriginConnection[] = [];
let isAwaited = false;

/**
 * A kept socket is written to when all that has come by now was read, on it too: an origin that closed it, or said more than it
 * was asked, is found out before another's request goes there. One that was read in this turn may have more, which is read in
 * the next.
 */
function afterReading(connection: OriginConnection, wasRead: boolean): void {
  (wasRead ? waitingLonger : waiting).push(connection);
  if (isAwaited) return;
  isAwaited = true;
  setImmediate(goOn);
}

function goOn(): void {
  const now = waiting;
  waiting = waitingLonger;
  waitingLonger = spare;
  spare = now;
  isAwaited = waiting.length > 0;
  if (isAwaited) setImmediate(goOn);
  for (let i = 0; i < now.length; i++) (now[i] as OriginConnection).goOn();
  now.length = 0;
}
