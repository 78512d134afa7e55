import type { EventEmitter } from "node:events";
import { isIP } from "node:net";
import { buildConnector, Client, type Dispatcher } from "undici";
import type { ProxySettings } from "../settings.js";
import { busy, type UpstreamError, waitedTooLong } from "./upstream-error.js";

/** A request that is to be sent to an origin. */
export interface Errand extends Dispatcher.DispatchHandler {
  readonly sending: Dispatcher.DispatchOptions;
  /** The connection it is on, to be given back by `release`. */
  client: Client | undefined;
  /** It was not sent, and never will be. */
  onTurnedAway(error: UpstreamError): void;
}

/** Requests that may wait for each connection of an origin. */
const mostWaitingPerConnection = 16;
/** How long an origin that could not be reached is passed over, if there are others. */
const restMs = 2000;

/**
 * One server of an upstream, and the connections kept to it: each carries one request at a time, the one used last is used
 * next, and what finds none free waits in line.
 */
export class Origin {
  readonly url: URL;
  /** As active health checks have it. */
  isHealthy = true;
  /** Requests under way or waiting, and tunnels. */
  load = 0;
  /** In which turn it was picked last. */
  pickedAt = 0;
  readonly #isTls: boolean;
  readonly #settings: ProxySettings;
  readonly #connect: buildConnector.connector;
  readonly #clients: Client[] = [];
  readonly #idle: Client[] = [];
  readonly #waiting = new Map<Errand, number>();
  #restsUntil = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(url: string, settings: ProxySettings) {
    this.url = new URL(url);
    this.#isTls = this.url.protocol === "https:";
    this.#settings = settings;
    const connect = buildConnector({ timeout: settings.connectTimeoutMs, allowH2: false });
    // undici would name the client's Host to the origin's TLS, and believe a certificate for it.
    this.#connect = (options, done) => connect({ ...options, servername: this.servername }, done);
  }

  /** What TLS calls the origin; addresses have no such name. */
  get servername(): string {
    return isIP(this.address) ? "" : this.url.hostname;
  }

  get address(): string {
    return this.url.hostname.replace(/^\[|\]$/g, "");
  }

  get isResting(): boolean {
    return this.#restsUntil !== 0 && this.#restsUntil > Date.now();
  }

  rest(): void {
    this.#restsUntil = Date.now() + restMs;
  }

  /** Sends an errand, now or when a connection is free. It comes back with `release`. */
  send(errand: Errand): void {
    const client = this.#idle.pop() ?? this.#open();
    if (client !== undefined) {
      this.load++;
      this.#dispatch(errand, client);
      return;
    }
    if (this.#waiting.size >= this.#settings.connections * mostWaitingPerConnection) {
      errand.onTurnedAway(busy);
      return;
    }
    this.load++;
    this.#waiting.set(errand, Date.now() + this.#settings.responseTimeoutMs);
    this.#sweeper ??= setInterval(() => this.#sweep(), 500).unref();
  }

  /** The errand is over. Its connection takes the next one. */
  release(client: Client): void {
    this.load--;
    for (const [errand] of this.#waiting) {
      this.#waiting.delete(errand);
      this.#dispatch(errand, client);
      return;
    }
    this.#idle.push(client);
  }

  /** Takes an errand out of the line. False: it is not there. */
  forget(errand: Errand): boolean {
    if (!this.#waiting.delete(errand)) return false;
    this.load--;
    return true;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    for (const errand of [...this.#waiting.keys()]) this.#turnAway(errand);
    await Promise.all(this.#clients.map((client) => client.destroy()));
  }

  #dispatch(errand: Errand, client: Client): void {
    errand.client = client;
    // For undici a connection belongs to the name it takes from Host, and a new name needs a new connection.
    const { sending } = errand;
    client.dispatch(this.#isTls ? named(sending, this.url.hostname) : sending, errand);
  }

  #open(): Client | undefined {
    const { connections, responseTimeoutMs, idleTimeoutMs, maxHeaderBytes } = this.#settings;
    if (this.#clients.length >= connections) return undefined;
    const client = new Client(this.url.origin, {
      connect: this.#connect,
      pipelining: 1,
      headersTimeout: responseTimeoutMs,
      bodyTimeout: idleTimeoutMs,
      maxHeaderSize: Math.max(maxHeaderBytes, leastHeaderBytes),
    });
    // undici tells here what an errand threw while it was told of an error: one request's matter, not the process's.
    (client as EventEmitter).on("error", () => {});
    this.#clients.push(client);
    return client;
  }

  #sweep(): void {
    const now = Date.now();
    for (const [errand, until] of this.#waiting) if (until <= now) this.#turnAway(errand);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #turnAway(errand: Errand): void {
    if (this.forget(errand)) errand.onTurnedAway(waitedTooLong);
  }
}

/** Upstreams may answer with more than clients may ask with. */
const leastHeaderBytes = 65_536;

function named(sending: Dispatcher.DispatchOptions, servername: string): Dispatcher.DispatchOptions {
  return Object.assign({ servername }, sending);
}
