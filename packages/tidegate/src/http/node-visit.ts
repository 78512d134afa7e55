import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Connection, connectionOf, type OfConnection } from "../connection.js";
import { HttpSubject } from "./http-subject.js";
import type { Answer } from "./refusal.js";
import { authorityOf, pathOf } from "./target.js";
import { Visit } from "./visit.js";

/** The facts of a request of node:http, or of node:http2's compatibility API. */
export class NodeSubject extends HttpSubject {
  readonly #req: IncomingMessage;

  /** `target` is the whole path, also below a mount point. */
  constructor(req: IncomingMessage, target: string | undefined) {
    super(req.method ?? "GET", pathOf(target ?? "/"));
    this.#req = req;
  }

  get host(): string {
    return authorityOf(this.#req.url) ?? this.header("host") ?? this.header(":authority") ?? "";
  }

  header(name: string): string | undefined {
    return textOf(this.#req.headers[name.toLowerCase()]);
  }
}

/** A visit whose answer is a node:http response. */
export class NodeVisit<Request> extends Visit<Request> implements OfConnection {
  readonly connection: Connection;
  readonly res: ServerResponse;
  readonly #req: IncomingMessage;

  constructor(request: Request, req: IncomingMessage, res: ServerResponse, subject: NodeSubject) {
    const { socket } = req;
    super(request, subject, socket.remoteAddress);
    this.connection = connectionOf(socket);
    this.res = res;
    this.#req = req;
    if (this.peer === undefined && hasLostPeer(socket)) {
      this.end();
      socket.destroy();
    }
  }

  override get isOver(): boolean {
    return this.hasEnded || isClosed(this.res);
  }

  protected override watch(): void {
    const { res } = this;
    const end = (): void => this.end(res.headersSent ? res.statusCode : undefined);
    res.on("close", end);
    // A response still waiting for those before it on its connection is not told when that breaks.
    if (res.socket === null) {
      const { socket } = this.#req;
      socket.once("close", end);
      res.once("socket", () => socket.off("close", end));
    }
  }

  getHeader(name: string): string | undefined {
    return textOf(this.res.getHeader(name));
  }

  setHeader(name: string, value: string): void {
    try {
      this.res.setHeader(name, value);
    } catch (error) {
      // An answer that has begun takes no more; to ask first costs Express more than to try.
      if (!this.res.headersSent) throw error;
    }
  }

  send({ status, headers, body }: Answer): void {
    if (this.res.headersSent) return;
    this.res.statusCode = status;
    for (const [name, value] of headers) this.res.setHeader(name, value);
    this.res.end(body);
  }
}

/** Whether it was told "close", which is not told again. node:http2's responses say it of their stream. */
function isClosed(res: ServerResponse & { stream?: { destroyed: boolean } }): boolean {
  const { destroyed = res.stream?.destroyed } = res;
  return destroyed === true;
}

/**
 * Whoever sends a request and resets the connection at once leaves bytes to be read and no address to be known by: nobody
 * waits for an answer, so there is none. A socket in the file system has no addresses at all, and is another matter.
 */
export function hasLostPeer({ localAddress, destroyed }: Socket): boolean {
  return destroyed || localAddress !== undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "number" ? String(value) : undefined;
}
