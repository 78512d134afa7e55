import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Registry } from "prom-client";
import { createGate, type Gate, type GateOptions, type Subject } from "tidegate";
import { openProxy } from "../../packages/tidegate-server/src/proxy/open-proxy.js";
import type {
  ProxySettings,
  Settings,
  UpstreamSettings,
} from "../../packages/tidegate-server/src/settings.js";

export interface LogLine {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly words: string;
}

export interface Rig {
  readonly port: number;
  readonly url: string;
  readonly proxy: ReturnType<typeof openProxy>;
  readonly server: Server;
  readonly gate: Gate;
  readonly registry: Registry;
  readonly lines: LogLine[];
  close(): Promise<void>;
}

export interface RigOptions {
  readonly upstreams: readonly (Partial<UpstreamSettings> & { readonly urls: readonly string[] })[];
  readonly proxy?: Partial<ProxySettings>;
  readonly settings?: Partial<Settings>;
  readonly gate?: Partial<GateOptions>;
  readonly track?: (subject: Subject) => void;
}

const rigs: { close(): Promise<void> }[] = [];

/** To be called in afterEach: everything that was started is stopped. */
export async function closeAll(): Promise<void> {
  await Promise.all(rigs.splice(0).map((rig) => rig.close()));
}

/** A proxy with its own server and gate, in front of the upstreams named. */
export async function openRig(options: RigOptions): Promise<Rig> {
  const gate = createGate({ rules: [], onWarning: () => {}, ...options.gate } as GateOptions);
  const registry = new Registry();
  const lines: LogLine[] = [];
  const log = Object.fromEntries(
    ["trace", "debug", "info", "warn", "error"].map((level) => [
      level,
      (fields: Record<string, unknown>, words: string) => lines.push({ level, fields, words }),
    ]),
  ) as never;
  const proxy = openProxy({
    settings: settingsOf(options),
    gate,
    log,
    registry,
    ...(options.track !== undefined && { track: options.track }),
  });
  const server = createServer(proxy.serverOptions, proxy.handle);
  server.on("upgrade", proxy.upgrade).on("connect", proxy.upgrade).on("checkExpectation", proxy.handle);
  const port = await listening(server);
  const rig = {
    port,
    url: `http://127.0.0.1:${port}`,
    proxy,
    server,
    gate,
    registry,
    lines,
    async close() {
      await proxy.close();
      await stop(server);
      await gate.close();
    },
  };
  rigs.push(rig);
  return rig;
}

export interface TestUpstream {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Requests that have arrived. */
  readonly count: number;
  close(): Promise<void>;
}

export async function openUpstream(handler: RequestListener): Promise<TestUpstream> {
  let count = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    count++;
    handler(req, res);
  });
  const port = await listening(server);
  const upstream = {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    get count() {
      return count;
    },
    close: () => stop(server),
  };
  rigs.push(upstream);
  return upstream;
}

/** Answers what it was asked, as JSON. */
export const echo: RequestListener = (req, res) => {
  const pieces: Buffer[] = [];
  req.on("data", (piece: Buffer) => pieces.push(piece));
  req.on("end", () => {
    const body = Buffer.concat(pieces).toString("latin1");
    const { method, url, rawHeaders, headers } = req;
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify({ method, url, rawHeaders, headers, body }));
  });
};

export interface Echoed {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly headers: Record<string, string | undefined>;
  readonly body: string;
}

export interface RawOptions {
  /** Done as soon as what came matches; otherwise when the connection closes. */
  readonly until?: RegExp;
  readonly withinMs?: number;
  readonly end?: boolean;
}

/** Sends bytes as they are and answers what came back, as latin1 text. Throws when nobody closes in time. */
export async function raw(port: number, bytes: string | Buffer, options: RawOptions = {}): Promise<string> {
  const { until, withinMs = 10_000, end = false } = options;
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  if (end) socket.end();
  try {
    return await heard(socket, until, withinMs);
  } finally {
    socket.destroy();
  }
}

export function heard(socket: Socket, until: RegExp | undefined, withinMs = 10_000): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(
      () => reject(new Error(`nothing more came after ${JSON.stringify(text)}`)),
      withinMs,
    );
    const done = (): void => {
      clearTimeout(timer);
      resolve(text);
    };
    socket.on("data", (piece) => {
      text += piece.toString("latin1");
      if (until?.test(text)) done();
    });
    socket.on("close", done);
  });
}

export async function eventually(test: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const until = Date.now() + withinMs;
  while (!(await test())) {
    if (Date.now() > until) throw new Error(`not within ${withinMs} ms: ${test}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const open = new WeakMap<Server, Set<Socket>>();

export async function listening(server: Server, port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  open.set(server, sockets);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Connections a server has not seen closed yet, upgraded ones included. */
export function openConnections(server: Server): number {
  return open.get(server)?.size ?? 0;
}

/** A port on which nobody listens. */
export async function deadPort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await stop(server);
  return port;
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of open.get(server) ?? []) socket.destroy();
  await closed;
}

function settingsOf({ upstreams, proxy, settings }: RigOptions): Settings {
  return {
    upstreams: upstreams.map((upstream, i) => ({ name: `app${i}`, hosts: [], path: "/", ...upstream })),
    proxy: {
      maxHeaderBytes: 16_384,
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 60_000,
      keepAliveMs: 5000,
      connectTimeoutMs: 2000,
      responseTimeoutMs: 10_000,
      idleTimeoutMs: 10_000,
      connections: 32,
      ...proxy,
    },
    trustedProxies: [],
    clientIpHeader: "X-Forwarded-For",
    identify: {},
    responses: { headers: "draft-11", status: 429 },
    ...settings,
  } as Settings;
}
