import { isIP } from "node:net";
import { buildConnector } from "undici";
import type { ProxySettings } from "../settings.js";
import type { Errand } from "./errand.js";
import { type Guest, Guests, shareOf } from "./guest.js";
import { type Dial, OriginConnection } from "./origin-connection.js";
import { intoOneBuffer } from "./read-into.js";
import { busy, unhealthy, waitedTooLong } from "./upstream-error.js";

/** Requests that may wait for each connection of an origin. */
const mostWaitingPerConnection = 16;
/** How long an origin that could not be reached is passed over, if there are others. */
const restMs = 2000;
/** The longest time between two looks at what is late. */
const longestTurnMs = 500;
/** Between two looks at what takes longer than most. */
const glanceMs = 25;

/**
 * One server of an upstream, and the connections kept to it: each carries one request at a time, the one used last is used
 * next, and what finds none free waits in line. A client has a share of connections and places in line; what it wants beyond
 * that waits behind, and joins the line when something of its own is over.
 */
export class Origin {
  readonly url: URL;
  /** As active health checks have it. */
  isHealthy = true;
  /** Requests under way or waiting, and tunnels. */
  load = 0;
  /** In which turn it was picked last. */
  pickedAt = 0;
  readonly #settings: ProxySettings;
  readonly #dial: Dial;
  readonly #connections: OriginConnection[] = [];
  readonly #idle: OriginConnection[] = [];
  readonly #share: number;
  readonly #guests = new Guests();
  /** Until when each waits. */
  readonly #line = new Map<Errand, number>();
  readonly #behind = new Map<Errand, number>();
  /** Connections in use, those of upgrades not yet answered included. */
  #used = 0;
  #restsUntil = 0;
  #isClosed = false;
  readonly #turnMs: number;
  #timer: NodeJS.Timeout | undefined;
  #glances: NodeJS.Timeout | undefined;

  constructor(url: string, settings: ProxySettings) {
    this.url = new URL(url);
    this.#settings = settings;
    this.#share = shareOf(settings.connections);
    this.#turnMs = Math.min(longestTurnMs, Math.min(settings.responseTimeoutMs, settings.idleTimeoutMs) / 4);
    this.#dial = this.#dialler();
  }

  /** What TLS calls the origin; addresses have no such name. */
  get servername(): string {
    return isIP(this.address) ? "" : this.url.hostname;
  }

  get address(): string {
    return this.url.hostname.replace(/^\[|\]$/g, "");
  }

  /** Of an answer: more than clients may ask with, where that is little. */
  get mostHeadBytes(): number {
    return Math.max(this.#settings.maxHeaderBytes, leastHeaderBytes);
  }

  get isResting(): boolean {
    return this.#restsUntil !== 0 && this.#restsUntil > Date.now();
  }

  rest(): void {
    this.#restsUntil = Date.now() + restMs;
  }

  /** Sends an errand, now or when a connection is free. It comes back with `release`. */
  send(errand: Errand): void {
    if (this.#isClosed) {
      errand.onTurnedAway(unhealthy);
      return;
    }
    const guest = this.#guests.of(errand.clientKey);
    if (guest.taken >= this.#share) {
      this.#putBehind(errand, guest);
      return;
    }
    const isFree = this.#used < this.#settings.connections;
    if (!isFree && this.#line.size >= this.#settings.connections * mostWaitingPerConnection) {
      errand.onTurnedAway(busy);
      return;
    }
    this.load++;
    errand.guest = guest;
    guest.taken++;
    if (isFree) this.#dispatch(errand);
    else this.#wait(this.#line, errand);
  }

  /** The errand is over. Its connection takes the next one. */
  release(errand: Errand): void {
    this.load--;
    this.#idle.push(errand.connection as OriginConnection);
    errand.connection = undefined;
    this.#leave(errand.guest as Guest);
    this.#freed();
  }

  /** Takes an errand out of the line. False: it is not there. */
  forget(errand: Errand): boolean {
    const guest = errand.guest as Guest;
    if (this.#behind.delete(errand)) guest.back?.delete(errand);
    else if (this.#line.delete(errand)) this.#leave(guest);
    else return false;
    this.load--;
    return true;
  }

  /** A connection for an upgrade, which does not wait for one. Answers how to give it back. */
  admit(clientKey: string): (() => void) | undefined {
    const guest = this.#guests.of(clientKey);
    if (this.#used >= this.#settings.connections || guest.taken >= this.#share) return undefined;
    this.load++;
    this.#used++;
    guest.taken++;
    return () => {
      this.load--;
      this.#leave(guest);
      this.#freed();
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unwatch();
    for (const errand of [...this.#behind.keys(), ...this.#line.keys()]) this.#turnAway(errand);
    for (const connection of this.#connections) connection.close();
  }

  /** What it left is its own next one's, at the end of the line. */
  #leave(guest: Guest): void {
    guest.taken--;
    if (guest.back !== undefined) {
      for (const errand of guest.back) {
        guest.back.delete(errand);
        this.#line.set(errand, this.#behind.get(errand) as number);
        this.#behind.delete(errand);
        guest.taken++;
        return;
      }
    }
  }

  #putBehind(errand: Errand, guest: Guest): void {
    guest.back ??= new Set();
    const { connections } = this.#settings;
    const isFull =
      guest.back.size >= this.#share * mostWaitingPerConnection ||
      this.#behind.size >= connections * mostWaitingPerConnection;
    if (isFull) {
      errand.onTurnedAway(busy);
      return;
    }
    this.load++;
    errand.guest = guest;
    guest.back.add(errand);
    this.#wait(this.#behind, errand);
  }

  #wait(where: Map<Errand, number>, errand: Errand): void {
    where.set(errand, Date.now() + this.#settings.responseTimeoutMs);
    this.#watch();
    errand.onWait();
  }

  #freed(): void {
    this.#used--;
    if (this.#line.size === 0) return;
    for (const [errand] of this.#line) {
      this.#line.delete(errand);
      this.#dispatch(errand);
      return;
    }
  }

  #dispatch(errand: Errand): void {
    this.#used++;
    const connection = this.#idle.pop() ?? this.#add();
    errand.connection = connection;
    this.#watch();
    connection.send(errand);
  }

  #add(): OriginConnection {
    const connection = new OriginConnection({
      dial: this.#dial,
      host: this.url.host,
      mostHeadBytes: this.mostHeadBytes,
    });
    this.#connections.push(connection);
    return connection;
  }

  /** The origin's own name is what its certificate has to be for, whatever Host a client sends. */
  #dialler(): Dial {
    const { protocol, host, port } = this.url;
    const connect = buildConnector({
      timeout: this.#settings.connectTimeoutMs,
      allowH2: false,
      ...(protocol !== "https:" && { onread: intoOneBuffer }),
    });
    const target = { protocol, hostname: this.address, host, port, servername: this.servername };
    return (done) => void connect(target, (...told) => done(told[0], told[1] ?? null));
  }

  #turn(): void {
    const now = Date.now();
    for (const line of [this.#behind, this.#line])
      for (const [errand, until] of line) if (until <= now) this.#turnAway(errand);
    for (const connection of this.#connections) {
      connection.errand?.onTurn(this.#turnMs);
      connection.dropStale(now);
    }
    if (this.#used + this.#line.size + this.#behind.size > 0) return;
    this.#unglance();
    if (!this.#connections.some(({ isOpen }) => isOpen)) this.#unwatch();
  }

  #glance(): void {
    for (const { errand } of this.#connections) errand?.onGlance();
  }

  #watch(): void {
    this.#timer ??= setInterval(() => this.#turn(), this.#turnMs).unref();
    this.#glances ??= setInterval(() => this.#glance(), glanceMs).unref();
  }

  #unwatch(): void {
    this.#unglance();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #unglance(): void {
    clearInterval(this.#glances);
    this.#glances = undefined;
  }

  #turnAway(errand: Errand): void {
    if (this.forget(errand)) errand.onTurnedAway(waitedTooLong);
  }
}

const leastHeaderBytes = 65_536;
