import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Registry } from "prom-client";
import type { Gate, Subject } from "tidegate";
import { clientResolver } from "tidegate/http";
import { tidegate } from "tidegate/node";
import { isAnswering } from "../answering.js";
import type { Log } from "../log.js";
import { type Problem, sendProblem } from "../problem.js";
import { saidOnce } from "../said-once.js";
import type { Settings } from "../settings.js";
import { clientKey } from "./client-key.js";
import { Exchange, type Passage } from "./exchange.js";
import { failureLog } from "./failure-log.js";
import { headPasses } from "./head-passes.js";
import { headerKinds } from "./header-kinds.js";
import { watchHealth } from "./health.js";
import { identifier } from "./identifier.js";
import { peerBook } from "./peers.js";
import { problems } from "./problems.js";
import { ProxyResponse } from "./proxy-response.js";
import { dropRest } from "./request-body.js";
import { type RequestHead, readHead } from "./request-head.js";
import { inDoubt, routes } from "./routes.js";
import { serverOptions } from "./server-options.js";
import { TrackedSubject } from "./tracked-subject.js";
import { tracking } from "./tracking.js";
import { trafficMeters } from "./traffic-meters.js";
import { answerOn, closeSoon, openTunnel, watchLeaving } from "./tunnel.js";
import { tunnelPlaces } from "./tunnel-places.js";
import { Upstream } from "./upstream.js";

export interface ProxyOptions {
  readonly settings: Settings;
  readonly gate: Gate;
  readonly log: Log;
  readonly registry: Registry;
  /** Told of every request once, let in or refused, when its answer has begun or, where that takes long, soon after it came. */
  readonly track?: (subject: Subject) => void;
  /** Told how each request that went to an upstream ended; undefined: its client left. */
  readonly onEnded?: (req: IncomingMessage, status: number | undefined) => void;
}

export interface Proxy {
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** For the server's `upgrade` and `connect`. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The server has to be made with these: limits of heads and times, and the kind of answer `handle` writes to. */
  readonly serverOptions: ServerOptions<typeof IncomingMessage, typeof ServerResponse>;
  /** At least one origin of each upstream is healthy. */
  isReady(): boolean;
  /** Names of upstreams without a healthy origin. */
  notReady(): string[];
  close(): Promise<void>;
}

/** Opens the proxy: the gate in front, upstreams behind. */
export function openProxy({ settings, gate, log, registry, track, onEnded }: ProxyOptions): Proxy {
  const { proxy, responses, trustedProxies, clientIpHeader, identify } = settings;
  const identity = [identify.user, identify.customer].filter((name) => name !== undefined);
  const peerOf = peerBook(trustedProxies);
  const kindOf = headerKinds({ clientIpHeader, identity });
  const meter = trafficMeters(registry);
  const clientOf = clientResolver({ trustedProxies, clientIpHeader });
  const check = headPasses(clientOf);
  const checkSaidOnce = saidOnce({ gate, identify });
  /** As the gate will see it: in doubt a rule applies. */
  const requested = (req: IncomingMessage): Subject =>
    Object.assign(new TrackedSubject(req, clientOf), { ignoresCase: true });
  const keyOf = clientKey(clientOf);
  const takePlace = tunnelPlaces();
  const tracks = tracking({ track, clientOf, log });
  const upstreams = settings.upstreams.map((each) => new Upstream(each, proxy));
  const passages = new Map(upstreams.map((upstream) => [upstream, passageTo(upstream)]));
  const upstreamFor = routes(upstreams);
  const stops = upstreams.flatMap(({ origins, name, settings: { health } }) =>
    health === undefined
      ? []
      : origins.map((origin) => watchHealth({ origin, upstream: name, settings: health, log })),
  );
  const tunnels = new Set<Duplex>();
  const guard = tidegate({
    gate,
    trustedProxies,
    clientIpHeader,
    headers: responses.headers,
    ...(responses.status !== undefined && { status: responses.status }),
    // What the app behind does is not known: in doubt a rule applies.
    ignoresCase: true,
    onWarning: ({ code, message, help }) => log.warn({ code, help }, message),
    ...(Object.keys(identify).length > 0 && { identify: identifier({ identify, peerOf, gate }) }),
  });
  const pass = guard((req, res) => forward(req, res as ProxyResponse));
  const passUpgrade = guard.upgrade(tunnel);

  function passageTo(upstream: Upstream): Passage {
    const told = new Set<string>();
    return {
      upstream,
      tally: meter(upstream.name),
      onFailed: failureLog({ upstream: upstream.name, log }),
      maxBodyBytes: proxy.maxBodyBytes,
      responseTimeoutMs: proxy.responseTimeoutMs,
      idleTimeoutMs: proxy.idleTimeoutMs,
      isListed: [responses.headers].flat().includes("draft-11"),
      onUnderWay: tracks?.tell,
      onEnded,
      onGivenWay(header) {
        if (told.has(header) || told.size > 16) return;
        told.add(header);
        log.warn({ upstream: upstream.name, header }, "the upstream's limit header gives way to the gate's");
      },
    };
  }

  function handle(req: IncomingMessage, res: ServerResponse): void {
    if (!(res instanceof ProxyResponse))
      throw new TypeError("Make the server with the proxy's serverOptions.");
    tracks?.expect(req, res);
    pass(req, res);
  }

  function forward(req: IncomingMessage, res: ProxyResponse): void {
    // Behind another on its connection: what is before it may be in doubt, or the last that is answered there.
    if (res.socket === null) {
      res.once("socket", () => process.nextTick(forward, req, res));
      return;
    }
    const peer = peerOf(req.socket);
    if (res.destroyed || peer.isDoubted) return;
    const head = readHead(req, peer, kindOf);
    const problem =
      check(head) ??
      checkSaidOnce(req, requested) ??
      (isUpgrade(req) ? upgradeProblem(head) : expectProblem(req, res));
    if (problem !== undefined) {
      peer.isDoubted = true;
      sendProblem(res, problem, problemHeaders(problem));
      return;
    }
    if (head.path === "*") {
      res.writeHead(204, { Allow: allowed }).end();
      return;
    }
    const passage = passageFor(head);
    if (!("upstream" in passage)) sendProblem(res, passage);
    else if (head.contentLength > (proxy.maxBodyBytes ?? Number.POSITIVE_INFINITY)) {
      sendProblem(res, problems.large);
    } else {
      new Exchange(passage, req, res, head, keyOf(req, peer)).start();
      return;
    }
    if (head.hasBody) dropRest(req, res);
  }

  function passageFor({ host, path }: RequestHead): Passage | Problem {
    const upstream = upstreamFor(host, path);
    if (upstream === inDoubt) return problems.path;
    return upstream === undefined ? problems.noRoute : (passages.get(upstream) as Passage);
  }

  /** Only WebSockets are passed through. Whoever offers another protocol is answered in this one. */
  function upgrade(req: IncomingMessage, socket: Duplex, first: Buffer): void {
    // Nobody sends an upgrade behind another request but to confuse.
    if (isAnswering(req.socket) || peerOf(req.socket).isDoubted) {
      socket.on("error", () => socket.destroy());
      req.socket.destroySoon();
      return;
    }
    tunnels.add(socket);
    socket.once("close", () => tunnels.delete(socket));
    socket.once("finish", () => closeSoon(socket));
    const isWebSocket = req.headers.upgrade?.toLowerCase() === "websocket" && req.method === "GET";
    if (!isWebSocket) {
      socket.on("error", () => socket.destroy());
      handle(req, answerOn(req, socket, ProxyResponse));
      return;
    }
    tracks?.expect(req, socket);
    watchLeaving(socket);
    passUpgrade(req, socket, first);
  }

  function tunnel(req: IncomingMessage, socket: Duplex, first: Buffer): void {
    const peer = peerOf(req.socket);
    const head = readHead(req, peer, kindOf);
    const problem = check(head) ?? checkSaidOnce(req, requested) ?? upgradeProblem(head);
    const passage = problem ?? passageFor(head);
    if (!("upstream" in passage)) {
      sendProblem(answerOn(req, socket), passage, problemHeaders(passage));
      return;
    }
    const { upstream, tally, onFailed, onUnderWay } = passage;
    openTunnel({
      req,
      socket,
      first,
      head,
      upstream,
      tally,
      settings: proxy,
      clientKey: keyOf(req, peer),
      takePlace,
      onFailed,
      onUnderWay,
    });
  }

  async function close(): Promise<void> {
    for (const stop of stops) stop();
    for (const socket of tunnels) socket.destroy();
    await Promise.all(upstreams.flatMap(({ origins }) => origins.map((origin) => origin.close())));
  }

  return {
    handle,
    upgrade,
    serverOptions: serverOptions(proxy),
    isReady: () => upstreams.every((upstream) => upstream.isReady),
    notReady: () => upstreams.filter(({ isReady }) => !isReady).map(({ name }) => name),
    close,
  };
}

/** Node reads nothing behind the head of such a request: its body would be waited for in vain. */
function isUpgrade(req: IncomingMessage & { upgrade?: boolean }): boolean {
  return req.upgrade === true;
}

function upgradeProblem({ hasBody }: RequestHead): Problem | undefined {
  return hasBody ? problems.upgradeBody : undefined;
}

/** HTTP/1.0 knows no expectations: there the header says nothing. */
function expectProblem({ headers, httpVersion }: IncomingMessage, res: ProxyResponse): Problem | undefined {
  if (headers.expect === undefined || res.isContinueAsked || httpVersion === "1.0") return undefined;
  return problems.expectation;
}

const allowed = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/** Where a request's end is in doubt, nothing more is read from its connection. */
function problemHeaders({ status }: Problem): Readonly<Record<string, string>> {
  return status === 405 ? { Allow: allowed, Connection: "close" } : { Connection: "close" };
}
