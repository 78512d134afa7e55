import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Header } from "./headers.js";
import { hasLostPeer, NodeSubject } from "./node-visit.js";
import type { Answer } from "./refusal.js";
import { readStatus } from "./status-line.js";
import { Visit } from "./visit.js";

/** A request that asks for another protocol. Its answer is written by whoever speaks that protocol, unless it is refused. */
export class UpgradeVisit extends Visit<IncomingMessage> {
  readonly #socket: Duplex;
  readonly #headers: Header[] = [];

  constructor(req: IncomingMessage, socket: Duplex) {
    super(req, new NodeSubject(req, req.url), req.socket.remoteAddress);
    this.#socket = socket;
    let status: number | undefined;
    readStatus(socket, (read) => {
      status = read;
    });
    socket.on("close", () => this.end(status));
    if (this.peer === undefined && hasLostPeer(req.socket)) socket.destroy();
    if (socket.destroyed) this.end();
    // Node has taken its own listener off by now: without one, a reset would end the process.
    socket.on("error", () => socket.destroy());
  }

  getHeader(): undefined {}

  setHeader(name: string, value: string): void {
    this.#headers.push([name, value]);
  }

  send({ status, headers, body }: Answer): void {
    this.end(status);
    const fields = new Map<string, string>();
    for (const [name, value] of [...this.#headers, ...headers, ["Connection", "close"] as const]) {
      const lines = [value].flat().map((each) => `${name}: ${each}\r\n`);
      fields.set(name.toLowerCase(), lines.join(""));
    }
    const reason = reasons[status] ?? "Refused";
    this.#socket.write(`HTTP/1.1 ${status} ${reason}\r\n${[...fields.values()].join("")}\r\n`, "latin1");
    this.#socket.end(body, () => this.#socket.destroy());
    const timer = setTimeout(() => this.#socket.destroy(), slowestReadMs).unref();
    this.#socket.once("close", () => clearTimeout(timer));
  }
}

/** As node:http has them, which is known by type only here. The app may refuse with any other status too. */
const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  426: "Upgrade Required",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** Whoever has not read a refusal by then keeps its socket no longer. */
const slowestReadMs = 5000;
