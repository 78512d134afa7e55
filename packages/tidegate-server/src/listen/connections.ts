import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** What is under way on one connection. */
interface Connection {
  readonly answers: Set<ServerResponse>;
  isUpgraded: boolean;
  /** What had been read when it was last idle: more means that a request has begun. */
  readAtRest: number;
}

/** The connections of one listener, so that a shutdown ends each when its last answer has gone out. */
export class Connections {
  readonly #open = new Map<Duplex, Connection>();
  #isDraining = false;
  #onChange: () => void = () => {};

  opened(socket: Socket): void {
    // Node remembers the address once asked: after a reset it could not be had any more, and what was sent still be read.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    this.#open.set(socket, { answers: new Set(), isUpgraded: false, readAtRest: 0 });
    // Whoever left is gone; without a listener that would end the process.
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#onChange();
    });
  }

  /** False: the connection is gone, or was cut for asking too much before it was answered. */
  began({ socket }: IncomingMessage, res: ServerResponse): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined) return false;
    if (connection.answers.size >= mostWaiting) {
      socket.destroy();
      return false;
    }
    connection.answers.add(res);
    if (this.#isDraining) res.shouldKeepAlive = false;
    res.once("close", () => {
      connection.answers.delete(res);
      connection.readAtRest = socket.bytesRead;
      if (this.#isDraining && connection.answers.size === 0 && !connection.isUpgraded) socket.destroySoon();
      this.#onChange();
    });
    return true;
  }

  upgraded(socket: Duplex): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.isUpgraded = true;
  }

  /** Whether an answer to what can not be read would be taken for nobody else's. */
  mayAnswerMalformed(socket: Socket): boolean {
    const answers = [...(this.#open.get(socket)?.answers ?? [])];
    if (answers.length === 0) return true;
    const [only] = answers as [ServerResponse];
    return answers.length === 1 && !only.headersSent && !only.req.complete;
  }

  /** Ends idle connections, then others as their answers end; after `drainMs` all that is left. */
  async drain(drainMs: number): Promise<void> {
    this.#isDraining = true;
    for (const [socket, connection] of this.#open) {
      for (const res of connection.answers) res.shouldKeepAlive = false;
      if (this.#isIdle(socket as Socket, connection)) socket.destroy();
    }
    await this.#until(() => [...this.#open.values()].every(({ isUpgraded }) => isUpgraded), drainMs);
    for (const [socket, { isUpgraded }] of this.#open) {
      if (isUpgraded && drainMs > 0) socket.end();
      else socket.destroy();
    }
    await this.#until(() => this.#open.size === 0, Math.min(drainMs, goodbyeMs));
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #isIdle(socket: Socket, { answers, isUpgraded, readAtRest }: Connection): boolean {
    return answers.size === 0 && !isUpgraded && socket.bytesRead <= readAtRest;
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

/** Requests sent on one connection before the first of them is answered. */
const mostWaiting = 64;

/** How long an upgraded connection may take to end by itself once it has been told. */
const goodbyeMs = 500;
