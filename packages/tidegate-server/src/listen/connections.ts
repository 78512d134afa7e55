import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isAnswering } from "../answering.js";

/** What a shutdown did not wait for any longer, in connections. */
export interface Cut {
  readonly requests: number;
  readonly tunnels: number;
}

/** What is under way on one connection. */
class Connection {
  isUpgraded = false;
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
  readonly #open = new Map<Duplex, Connection>();
  #isDraining = false;
  #onChange: () => void = () => {};

  opened(socket: Socket): void {
    // Node remembers the address once asked: after a reset it could not be had any more, and what was sent still be read.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    this.#open.set(socket, new Connection());
    // Whoever left is gone; without a listener that would end the process.
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#onChange();
    });
  }

  /** False: the connection is gone, or was cut for asking too much before it was answered. */
  began(req: IncomingMessage, res: ServerResponse): boolean {
    const { socket } = req;
    const connection = this.#open.get(socket);
    if (connection === undefined) return false;
    if (connection.size >= mostWaiting) {
      socket.destroy();
      return false;
    }
    connection.add(res);
    if (this.#isDraining) res.shouldKeepAlive = false;
    res.on("close", () => {
      connection.delete(res);
      connection.readAtRest = socket.bytesRead;
      connection.unread = req.complete ? undefined : req;
      if (this.#isDraining && connection.size === 0 && !connection.isUpgraded) socket.destroySoon();
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
    const connection = this.#open.get(socket);
    // What can not be read is the rest of a request that has its answer.
    if (connection?.unread?.complete === false) return false;
    const [first, ...others] = connection?.answers ?? [];
    return first === undefined || (others.length === 0 && !first.headersSent && !first.req.complete);
  }

  /**
   * Ends idle connections, then others as their answers end; after `drainMs` all that is left. Tunnels nobody waits for: they
   * are ended when there is nothing else. Answers how many of either were cut.
   */
  async drain(drainMs: number): Promise<Cut> {
    this.#isDraining = true;
    for (const [socket, connection] of this.#open) {
      for (const res of connection.answers) res.shouldKeepAlive = false;
      if (this.#isIdle(socket as Socket, connection)) socket.destroy();
    }
    await this.#until(() => [...this.#open].every(isTunnel), drainMs);
    const left = [...this.#open];
    const tunnels = left.filter(isTunnel);
    for (const [socket, connection] of left) {
      if (isTunnel([socket, connection]) && drainMs > 0) socket.end();
      else socket.destroy();
    }
    await this.#until(() => this.#open.size === 0, Math.min(drainMs, goodbyeMs));
    for (const socket of this.#open.keys()) socket.destroy();
    return { requests: left.length - tunnels.length, tunnels: tunnels.length };
  }

  #isIdle(socket: Socket, { size, isUpgraded, readAtRest }: Connection): boolean {
    return size === 0 && !isUpgraded && socket.bytesRead <= readAtRest;
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

/** Who asked for an upgrade and is answered in HTTP all the same has no tunnel. */
function isTunnel([socket, { isUpgraded }]: [Duplex, Connection]): boolean {
  return isUpgraded && !isAnswering(socket);
}

/** Requests sent on one connection before the first of them is answered. */
const mostWaiting = 64;

/** How long an upgraded connection may take to end by itself once it has been told. */
const goodbyeMs = 500;
