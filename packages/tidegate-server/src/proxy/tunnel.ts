import { type ClientRequest, request as httpRequest, type IncomingMessage, ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { sendProblem } from "../problem.js";
import type { ProxySettings } from "../settings.js";
import { mostInterim } from "./answer-reader.js";
import type { OnFailed } from "./failure-log.js";
import { withoutNamed } from "./hop-by-hop.js";
import type { Origin } from "./origin.js";
import { ReaderWatch } from "./reader-watch.js";
import type { RequestHead } from "./request-head.js";
import type { Tally } from "./traffic-meters.js";
import type { Upstream } from "./upstream.js";
import { busy, late, type UpstreamError, unhealthy, upstreamError } from "./upstream-error.js";

export interface TunnelOptions {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent along with its head; the upstream gets it once it has agreed. */
  readonly first: Buffer;
  readonly head: RequestHead;
  readonly upstream: Upstream;
  readonly tally: Tally;
  readonly settings: ProxySettings;
  /** As shares are counted. */
  readonly clientKey: string;
  /** Takes a place among the open tunnels; see tunnelPlaces. */
  readonly takePlace: (clientKey: string) => (() => void) | undefined;
  readonly onFailed: OnFailed;
  readonly onUnderWay: ((req: IncomingMessage) => void) | undefined;
}

const probeMs = 60_000;
const lingerMs = 1000;
/** Bytes a client may send ahead of the 101, but for those that come with its head. */
const mostAhead = 16_384;

/** A WebSocket's way to an origin: asked for like any request, and once the origin agrees, bytes both ways. */
export function openTunnel(options: TunnelOptions): void {
  const { upstream, clientKey, takePlace, socket } = options;
  if (socket.destroyed) return;
  const attempt = new Attempt(options);
  const origin = upstream.pick();
  if (origin === undefined) {
    attempt.fail(unhealthy);
    return;
  }
  const leave = takePlace(clientKey);
  if (leave !== undefined) socket.once("close", leave);
  const release = leave && origin.admit(clientKey);
  if (release === undefined) attempt.fail(busy);
  else attempt.start(origin, release);
}

/** From the client's question to the origin's answer. */
class Attempt {
  readonly #options: TunnelOptions;
  readonly #startedAt = performance.now();
  #asked: ClientRequest | undefined;
  #isRetry = false;
  #isConnected = false;
  #isAnswered = false;

  constructor(options: TunnelOptions) {
    this.#options = options;
    options.tally.active++;
  }

  start(origin: Origin, release: () => void): void {
    const { req, socket, onUnderWay } = this.#options;
    socket.once("close", () => this.#asked?.destroy());
    this.#ask(origin, release);
    if (onUnderWay !== undefined) setImmediate(onUnderWay, req);
  }

  #ask(origin: Origin, release: () => void): void {
    const asked = ask(this.#options, origin);
    this.#asked = asked;
    let interim = 0;
    asked.once("close", release);
    asked.once("socket", (far) => this.#awaitConnection(far, origin));
    asked.once("upgrade", (answer, far, farFirst) => this.#agreed(answer, far, farFirst, origin));
    asked.once("response", (answer) => this.#declined(answer, origin));
    asked.on("information", () => ++interim > mostInterim && asked.destroy(odd()));
    asked.on("error", (error) => this.#failed(error, origin));
    asked.end();
  }

  fail({ kind, problem }: UpstreamError): void {
    const { req, socket, upstream, tally } = this.#options;
    tally.failed(kind);
    this.#answered(problem.status);
    const isLater = problem.status === 503;
    const retry = { "Retry-After": `${upstream.retryAfterSeconds}` };
    sendProblem(answerOn(req, socket), problem, isLater ? retry : {});
  }

  #awaitConnection(far: Socket, { url }: Origin): void {
    const { connectTimeoutMs, responseTimeoutMs } = this.#options.settings;
    const timer = setTimeout(() => far.destroy(late()), connectTimeoutMs);
    far.once("close", () => clearTimeout(timer));
    far.on("timeout", () => far.destroy(late()));
    far.once(url.protocol === "https:" ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      this.#isConnected = true;
      far.setTimeout(responseTimeoutMs);
    });
  }

  #agreed(answer: IncomingMessage, far: Duplex, farFirst: Buffer, origin: Origin): void {
    const { socket, first, tally } = this.#options;
    if (isOdd(answer) || answer.headers.upgrade?.toLowerCase() !== "websocket") {
      far.destroy();
      this.#failed(odd(), origin);
      return;
    }
    const ahead = unwatch(socket);
    socket.write(agreement(answer));
    this.#answered(101);
    tally.tunnels++;
    origin.load++;
    far.once("close", () => {
      tally.tunnels--;
      origin.load--;
    });
    // A tunnel may be silent for longer than an answer may take.
    (far as Socket).setTimeout(0);
    if (farFirst.length > 0) socket.write(farFirst);
    for (const early of [first, ahead]) if (early.length > 0) far.write(early);
    join(socket, far);
  }

  /** The client hears what the origin says instead. */
  #declined(answer: IncomingMessage, origin: Origin): void {
    const { req, socket } = this.#options;
    const { idleTimeoutMs } = this.#options.settings;
    const { socket: far } = answer;
    const status = answer.statusCode as number;
    if (status < 200 || isOdd(answer)) {
      this.#asked?.destroy();
      this.#failed(odd(), origin);
      return;
    }
    const res = answerOn(req, socket);
    this.#answered(status);
    const cut = (): void => void res.socket?.resetAndDestroy();
    answer.on("error", cut);
    // One without a length Node takes to be whole even so, if later than this; behind a whole one nothing is anybody's.
    this.#asked?.on("error", () => answer.complete || cut());
    const reader = new ReaderWatch(res, idleTimeoutMs);
    // While the client has to take more first, it is not the origin's turn.
    answer.on("pause", () => {
      far.setTimeout(0);
      reader.expect();
    });
    answer.on("resume", () => far.setTimeout(idleTimeoutMs));
    try {
      res.writeHead(status, withoutHops(answer));
      answer.pipe(res);
    } catch {
      socket.destroy();
    }
  }

  #failed(error: Error, origin: Origin): void {
    if (this.#isAnswered) return;
    const known = upstreamError(error, this.#isConnected);
    if (this.#options.socket.destroyed) {
      this.#answered(undefined);
      return;
    }
    this.#options.onFailed(origin.url.origin, error);
    if (known.isUnsent) origin.rest();
    if (!(known.isUnsent && this.#askAnother(origin))) this.fail(known);
  }

  /** Nothing was sent: another origin may be asked, once. */
  #askAnother(tried: Origin): boolean {
    const { upstream, clientKey } = this.#options;
    if (this.#isRetry || upstream.origins.length === 1) return false;
    this.#isRetry = true;
    const other = upstream.pick(tried);
    const release = other?.admit(clientKey);
    if (other === undefined || release === undefined) return false;
    this.#ask(other, release);
    return true;
  }

  #answered(status: number | undefined): void {
    this.#isAnswered = true;
    this.#options.tally.ended(status, performance.now() - this.#startedAt);
  }
}

/** What came while nobody takes it. */
const aheads = new WeakMap<Duplex, Buffer>();
const nothing = Buffer.alloc(0);

/** Nobody takes anything from it yet, and left alone it would not tell that the client has gone. */
export function watchLeaving(socket: Duplex): void {
  socket.on("data", keep).on("end", leave);
}

/** Answers what came meanwhile. */
function unwatch(socket: Duplex): Buffer {
  socket.off("data", keep).off("end", leave);
  const ahead = aheads.get(socket) ?? nothing;
  aheads.delete(socket);
  return ahead;
}

/** So much before the 101 is nobody's WebSocket. */
function keep(this: Duplex, piece: Buffer): void {
  const ahead = Buffer.concat([aheads.get(this) ?? nothing, piece]);
  aheads.set(this, ahead);
  if (ahead.length >= mostAhead) this.destroy();
}

function leave(this: Duplex): void {
  this.destroy();
}

function odd(): Error {
  return new Error("The origin speaks of a protocol that was not asked for.");
}

/**
 * An answer in HTTP on a socket that was taken for an upgrade; the last one on it. Node looks after such a socket no more, nor
 * tells its answer of it.
 */
export function answerOn<Response extends ServerResponse>(
  req: IncomingMessage,
  socket: Duplex,
  Kind: new (req: IncomingMessage) => Response = ServerResponse as never,
): Response {
  unwatch(socket);
  socket.resume();
  const res = new Kind(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket as never);
  const goOn = (): void => void res.emit("drain");
  const tellLate = (): void => void res.emit("timeout");
  socket.on("drain", goOn).on("timeout", tellLate).on("end", leave);
  res.on("finish", () => {
    socket.off("drain", goOn).off("timeout", tellLate).off("end", leave);
    res.detachSocket(socket as never);
    socket.end();
  });
  socket.once("close", () => res.destroyed || res.emit("close"));
  return res;
}

/** Everything is said: the client has a moment to hear it. Node no longer looks after such a socket. */
export function closeSoon(socket: Duplex): void {
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

/** Node's parser takes it, the reader of other answers does not. */
function isOdd({ headers, httpVersion, httpVersionMajor }: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  if (httpVersionMajor !== 1 || !Number.isSafeInteger(Number(length ?? 0))) return true;
  return encoding !== undefined && (encoding.toLowerCase() !== "chunked" || httpVersion === "1.0");
}

const agreeing = ["Connection", "Upgrade", "Upgrade", "websocket"];

function ask({ head }: TunnelOptions, origin: Origin): ClientRequest {
  const isTls = origin.url.protocol === "https:";
  const request = isTls ? httpsRequest : httpRequest;
  const asked = request({
    host: origin.address,
    port: origin.url.port || (isTls ? 443 : 80),
    method: head.method,
    path: head.path,
    headers: ["host", head.host || origin.url.host, ...head.headers, ...agreeing],
    agent: false,
    maxHeaderSize: origin.mostHeadBytes,
    ...(isTls && origin.servername !== "" && { servername: origin.servername }),
  });
  // Node would drop the lines beyond, with what they say of the answer's length.
  asked.maxHeadersCount = 0;
  return asked;
}

const hops = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** The length comes last: a file's name behind it Node would take for another encoding. */
function withoutHops({ rawHeaders: raw, headers, statusCode }: IncomingMessage): string[] {
  const kept: string[] = [];
  const length: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (hops.test(name)) continue;
    (/^content-length$/i.test(name) ? length : kept).push(name, raw[i + 1] as string);
  }
  const hasNoBody = statusCode === 101 || statusCode === 204;
  return withoutNamed(hasNoBody ? kept : kept.concat(length), headers.connection ?? "");
}

function agreement(answer: IncomingMessage): Buffer {
  const kept = withoutHops(answer);
  let text = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
  for (let i = 0; i < kept.length; i += 2) text += `${kept[i]}: ${kept[i + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, "latin1");
}

/** Each end's pieces, end and breaking are the other's. Whoever is silent is probed, not cut: WebSockets may be. */
function join(near: Duplex, far: Duplex): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    Object(from).setKeepAlive?.(true, probeMs);
    Object(from).setNoDelay?.(true);
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    from.pipe(to);
  }
}
