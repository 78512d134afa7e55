import type { IncomingMessage } from "node:http";
import type { Subject } from "tidegate";
import type { ClientResolver } from "tidegate/http";

/** What is known of a request, for whoever tracks clients; found out when asked. */
export class TrackedSubject implements Subject {
  readonly #req: IncomingMessage;
  readonly #clientOf: ClientResolver;
  /** Kept: a socket that has closed does not know it any more. */
  readonly #peer: string | undefined;
  #ip: string | undefined;

  constructor(req: IncomingMessage, clientOf: ClientResolver) {
    this.#req = req;
    this.#clientOf = clientOf;
    this.#peer = req.socket.remoteAddress;
  }

  get ip(): string {
    this.#ip ??= this.#clientOf(this.#peer, (name) => this.header(name));
    return this.#ip;
  }

  get method(): string {
    return this.#req.method ?? "GET";
  }

  get host(): string {
    return this.#req.headers.host ?? "";
  }

  get path(): string {
    const target = this.#req.url ?? "/";
    return target.startsWith("/") ? target : target.replace(/^\w+:\/\/[^/?#]*/, "") || "/";
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : value;
  }
}
