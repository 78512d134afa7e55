import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { answerOwed, isAnswering } from "../answering.js";

/** What a shutdown did not wait for any longer, in connections. */
export interface Cut {
  readonly requests: number;
  readonly tunnels: number;
}

/** What is under way on one connection. */
class Connection {
  isUpgraded = false;
  /** The last answer is out, and what still comes of its request is nobody's. */
  isLingering = false;
  /** It has a time to take what is written for it. */
  isHurried = false;
  /** What had been read when it was last idle: more means that a request has begun. */
  readAtRest = 0;
  /** The last request, if it was answered before all of it had come. */
  unread: IncomingMessage | undefined;
  #answer: ServerResponse | undefined;
  /** Those that wait behind it. Few clients send so, and a set costs more than a place for one. */
  #others: Set<ServerResponse> | undefined;

  get size(): number {
    return (this.#answer === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }

  get answers(): readonly ServerResponse[] {
    return [...(this.#answer === undefined ? [] : [this.#answer]), ...(this.#others ?? [])];
  }

  add(res: ServerResponse): void {
    if (this.#answer === undefined) this.#answer = res;
    else {
      this.#others ??= new Set();
      this.#others.add(res);
    }
  }

  delete(res: ServerResponse): void {
    if (this.#answer === res) this.#answer = undefined;
    else this.#others?.delete(res);
  }
}

/** The connections of one listener, so that a shutdown ends each when its last answer has gone out. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #readerTimeoutMs: number;
  readonly #rounds: NodeJS.Timeout;
  #isDraining = false;
  #onChange: () => void = () => {};

  /** A client that takes nothing of its answers for so long is cut. */
  constructor(readerTimeoutMs: number) {
    this.#readerTimeoutMs = readerTimeoutMs;
    this.#rounds = setInterval(() => this.#hurryReaders(), Math.min(5_000, readerTimeoutMs / 2));
    this.#rounds.unref();
  }

  opened(socket: Socket): void {
    // Node remembers the address once asked: after a reset it could not be had any more, and what was sent still be read.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const connection = new Connection();
    this.#open.set(socket, connection);
    socket.destroySoon = () => this.#endSoon(socket, connection);
    // Whoever left is gone; without a listener that would end the process.
    socket.on("error", () => socket.destroy());
    // Before Node, which would end it in the middle of an answer.
    socket.prependListener("end", breakAnswer);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#onChange();
    });
  }

  /** False: the connection is gone, or was cut for asking too much before it was answered. */
  began(req: IncomingMessage, res: ServerResponse): boolean {
    const { socket } = req;
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.isLingering) return false;
    if (connection.size >= mostWaiting) {
      breakOff(socket);
      return false;
    }
    connection.add(res);
    if (this.#isDraining) res.shouldKeepAlive = false;
    res.on("close", () => {
      connection.delete(res);
      connection.readAtRest = socket.bytesRead;
      connection.unread = req.complete ? undefined : req;
      if (connection.unread !== undefined) {
        req.on("end", () => {
          connection.readAtRest = socket.bytesRead;
        });
      }
      if (this.#isDraining && connection.size === 0 && !connection.isUpgraded) socket.destroySoon();
      this.#onChange();
    });
    return true;
  }

  upgraded(socket: Duplex): void {
    const connection = this.#open.get(socket as Socket);
    if (connection !== undefined) connection.isUpgraded = true;
  }

  /** Whether an answer to what can not be read would be taken for nobody else's. */
  mayAnswerMalformed(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    // What can not be read is the rest of a request that has its answer.
    if (connection?.unread?.complete === false) return false;
    const [first, ...others] = connection?.answers ?? [];
    return first === undefined || (others.length === 0 && !first.headersSent && !first.req.complete);
  }

  /** For the server's `timeout`: Node leaves the socket to whoever listens to that. */
  timedOut(socket: Socket): void {
    if (!isAnswering(socket)) socket.destroy();
    else if (socket.writableLength > 0) socket.resetAndDestroy();
  }

  /** A timer for each answer would outlive it; few clients are found waiting for one here. */
  #hurryReaders(): void {
    for (const [socket, connection] of this.#open) {
      const isWaiting = socket.writableLength > 0;
      if (isWaiting && !socket.timeout && !connection.isUpgraded) {
        connection.isHurried = true;
        socket.setTimeout(this.#readerTimeoutMs);
      } else if (!isWaiting && connection.isHurried) {
        connection.isHurried = false;
        // Where nothing is owed, Node has set how long the connection is kept.
        if (isAnswering(socket)) socket.setTimeout(0);
      }
    }
  }

  /**
   * Ends idle connections, then others as their answers end; after `drainMs` all that is left. Tunnels nobody waits for: they
   * are ended when there is nothing else. Answers how many of either were cut.
   */
  async drain(drainMs: number): Promise<Cut> {
    this.#isDraining = true;
    for (const [socket, connection] of this.#open) {
      for (const res of connection.answers) res.shouldKeepAlive = false;
      if (connection.isLingering) setTimeout(() => socket.destroy(), lingerMs).unref();
      else if (connection.size === 0 && isComing(connection.unread)) socket.destroySoon();
      else if (this.#isIdle(socket, connection)) socket.destroy();
    }
    await this.#until(() => [...this.#open].every(isTunnel), drainMs);
    const left = [...this.#open];
    const tunnels = left.filter(isTunnel);
    for (const [socket, connection] of left) {
      if (isAnswering(socket) || !connection.isUpgraded || drainMs <= 0) breakOff(socket);
      else socket.end();
    }
    await this.#until(() => this.#open.size === 0, Math.min(drainMs, goodbyeMs));
    for (const socket of this.#open.keys()) socket.destroy();
    clearInterval(this.#rounds);
    return { requests: left.length - tunnels.length, tunnels: tunnels.length };
  }

  #isIdle(socket: Socket, { size, isUpgraded, readAtRest }: Connection): boolean {
    return size === 0 && !isUpgraded && socket.bytesRead <= readAtRest + emptyLine;
  }

  /** Closed at once behind an answer that did not wait for all of the request, it would be reset, and the answer be lost to it. */
  #endSoon(socket: Socket, connection: Connection): void {
    if (connection.isLingering) return;
    const req = connection.answers.find((res) => isComing(res.req))?.req ?? connection.unread;
    if (!isComing(req)) {
      Socket.prototype.destroySoon.call(socket);
      return;
    }
    connection.isLingering = true;
    socket.end();
    linger(socket, req, this.#isDraining ? lingerMs : mostLingerMs);
  }

  #until(isDone: () => boolean, atMostMs: number): Promise<void> {
    if (isDone() || atMostMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#onChange = () => {};
        resolve();
      };
      const timer = setTimeout(end, atMostMs);
      this.#onChange = () => {
        if (isDone()) end();
      };
    });
  }
}

/** What still comes is dropped, until the request is complete, nothing more comes, or the time is over. */
function linger(socket: Socket, req: IncomingMessage, mostMs: number): void {
  req.on("end", () => socket.destroy());
  const untilMs = performance.now() + mostMs;
  let seen = socket.bytesRead;
  const rounds = setInterval(() => {
    if (socket.bytesRead === seen || performance.now() >= untilMs) socket.destroy();
    seen = socket.bytesRead;
  }, lingerMs).unref();
  socket.once("close", () => clearInterval(rounds));
}

function isComing(req: IncomingMessage | undefined): req is IncomingMessage {
  return req?.complete === false;
}

/** Some clients send one behind a body. */
const emptyLine = "\r\n".length;

/** How long a client may go on sending what nobody reads; if nothing comes, or in a shutdown, so much less. */
const mostLingerMs = 30_000;
const lingerMs = 2_000;

/** Breaks off what is under way: to HTTP/1.0 the end of a connection may be that of the answer. */
export function breakOff(socket: Socket): void {
  if (isAnswering(socket)) socket.resetAndDestroy();
  else socket.destroy();
}

/** The client says nothing more, which Node takes for leaving. */
function breakAnswer(this: Socket): void {
  const answer = answerOwed(this);
  if (answer?.headersSent && !answer.writableEnded) this.resetAndDestroy();
}

/** Who asked for an upgrade and is answered in HTTP all the same has no tunnel. */
function isTunnel([socket, { isUpgraded }]: [Duplex, Connection]): boolean {
  return isUpgraded && !isAnswering(socket);
}

/** Requests sent on one connection before the first of them is answered. */
const mostWaiting = 64;

/** How long an upgraded connection may take to end by itself once it has been told. */
const goodbyeMs = 500;
