import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Duplex } from "node:stream";
import { TidegateError } from "tidegate";
import type { Log } from "../log.js";
import { type Problem, sendProblem } from "../problem.js";
import type { ListenAddress } from "../settings.js";
import { callerCheck } from "./caller-check.js";
import { breakOff, Connections, type Cut } from "./connections.js";
import { keepTick } from "./kept-tick.js";
import { logMalformed, malformedProblem, type ParseFailure } from "./malformed.js";
import { answerRaw } from "./raw-answer.js";
import { shortenCollections } from "./short-collections.js";
import { urlHost } from "./url-host.js";
import { keepGarbageYoung } from "./young-garbage.js";

export interface ListenOptions {
  /** As in the settings: `proxy`, `admin`, `decide`. */
  readonly name: string;
  readonly address: ListenAddress;
  /** What it throws is answered 500 and logged. */
  readonly handle: (req: IncomingMessage, res: ServerResponse) => unknown;
  readonly upgrade?: (req: IncomingMessage, socket: Duplex, head: Buffer) => unknown;
  readonly serverOptions?: ServerOptions;
  /** Names, beside addresses and localhost, it may be called by. `"any"` checks neither Host nor Origin. Default none. */
  readonly hosts?: readonly string[] | "any";
  /** How long a client may take nothing of what is written for it. Default a minute. */
  readonly readerTimeoutMs?: number;
  readonly log: Log;
}

export interface Listener {
  /** To be called from this machine: a listener on all addresses is named by loopback. */
  readonly url: string;
  readonly port: number;
  /** Accepts nobody more, ends idle connections, and waits so long for answers under way. */
  close(drainMs: number): Promise<void>;
}

/** A node:http server with the manners every listener has. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { name, address, upgrade, hosts = [], readerTimeoutMs = 60_000, log } = options;
  keepTick();
  keepGarbageYoung();
  shortenCollections();
  const connections = new Connections(readerTimeoutMs);
  const check = hosts === "any" ? undefined : callerCheck(hosts);
  const server = createServer({ ...usualOptions, ...options.serverOptions });
  let closed: Promise<void> | undefined;

  server.on("connection", (socket) => connections.opened(socket));
  server.on("timeout", (socket) => connections.timedOut(socket));
  const began = (req: IncomingMessage, res: ServerResponse): void => {
    if (!connections.began(req, res)) return;
    // Sent before the answers before it were out: it is nobody's turn until its response has the socket.
    if (res.socket === null) res.once("socket", () => serve(req, res));
    else serve(req, res);
  };
  server.on("request", began);
  // Node would answer an unknown Expect itself, before anybody was asked.
  server.on("checkExpectation", began);
  if (upgrade !== undefined) {
    // CONNECT asks for another protocol too, and is to be told no in words.
    const asked = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
      connections.upgraded(socket);
      const problem = check?.(req);
      if (problem !== undefined) answerRaw(socket, problem);
      else
        run(
          () => upgrade(req, socket, head),
          (error) => {
            log.error({ err: error, listener: name }, "an upgrade failed");
            socket.destroy();
          },
        );
    };
    server.on("upgrade", asked);
    server.on("connect", asked);
  } else {
    // Node would close the connection without a word.
    server.on("connect", (req: IncomingMessage) => answerAlone(req.socket, noTunnels, ["Allow: "]));
  }
  server.on("clientError", (failure: ParseFailure, socket) => {
    const problem = malformedProblem(failure);
    if (problem === undefined) return void socket.destroy();
    logMalformed(log, name, failure, socket as IncomingMessage["socket"]);
    answerAlone(socket as IncomingMessage["socket"], problem);
  });

  /** Unless it would be taken for another request's answer. */
  function answerAlone(
    socket: IncomingMessage["socket"],
    problem: Omit<Problem, "title">,
    headers?: readonly string[],
  ): void {
    if (connections.mayAnswerMalformed(socket)) answerRaw(socket, problem, headers);
    else breakOff(socket);
  }

  function serve(req: IncomingMessage, res: ServerResponse): void {
    const problem = check?.(req);
    if (problem !== undefined) sendProblem(res, problem, refusalHeaders);
    else
      run(
        () => options.handle(req, res),
        (error) => fail(error, res),
      );
  }

  function fail(error: unknown, res: ServerResponse): void {
    log.error({ err: error, listener: name }, "a request failed");
    sendProblem(res, {
      status: 500,
      title: "Internal Server Error",
      detail: "This is our fault, and it is in the log.",
      code: "TG_INTERNAL",
    });
  }

  await bound(server, name, address);
  server.on("error", (error) => log.error({ err: error, listener: name }, "the listener failed"));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${urlHost(address.host)}:${port}`,
    close(drainMs) {
      closed ??= closeServer(server, connections, drainMs).then((cut) => {
        if (cut.requests > 0) log.warn({ listener: name, ...cut }, "what was not over in time was cut");
        else if (cut.tunnels > 0) log.info({ listener: name, ...cut }, "open tunnels were ended");
      });
      return closed;
    },
  };
}

/** Slow senders are cut; connections are kept longer than load balancers keep theirs. */
const usualOptions: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
};

const noTunnels: Omit<Problem, "title"> = {
  status: 405,
  code: "TG_METHOD",
  detail: "CONNECT is not taken here: nothing is passed on by this listener.",
};

const refusalHeaders = { "X-Content-Type-Options": "nosniff", Connection: "close" };

function run(act: () => unknown, fail: (error: unknown) => void): void {
  try {
    const done = act();
    if (done instanceof Promise) done.catch(fail);
  } catch (error) {
    fail(error);
  }
}

async function closeServer(server: Server, connections: Connections, drainMs: number): Promise<Cut> {
  // Node takes a connection for idle as soon as its answer is written, whether or not the client has it all.
  server.closeIdleConnections = () => {};
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  const cut = await connections.drain(drainMs);
  await ended;
  return cut;
}

function bound(server: Server, name: string, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(notBound(error, name, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function notBound(error: NodeJS.ErrnoException, name: string, host: string, port: number): TidegateError {
  const [why, help] = reasons[error.code ?? ""] ?? [
    error.message,
    "Give an address of this machine and a free port.",
  ];
  return new TidegateError(
    "TG_LISTEN",
    `The ${name} listener can not take ${isIPv6(host) ? `[${host}]` : host}:${port}: ${why}.`,
    help.replaceAll("<setting>", settingOf(name)),
    { cause: error },
  );
}

/** As `tidegate start` takes it, and as the file does. */
function settingOf(name: string): string {
  return `${name === "proxy" ? "--listen" : `--${name}`} (listen.${name} in tidegate.yaml)`;
}

const reasons: Readonly<Record<string, readonly [why: string, help: string]>> = {
  EADDRINUSE: [
    "somebody listens there already",
    "Stop the other program, or choose another port with <setting>; 0 takes any free one.",
  ],
  EACCES: [
    "this user may not",
    "Ports below 1024 need a privilege: choose another with <setting>, or grant CAP_NET_BIND_SERVICE.",
  ],
  EADDRNOTAVAIL: [
    "this machine has no such address",
    "Give one of its own with <setting>, e.g. 127.0.0.1 or 0.0.0.0.",
  ],
  ENOTFOUND: ["the name leads nowhere", "Give an address with <setting>, e.g. 127.0.0.1."],
};
