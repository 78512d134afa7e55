import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from "node:net";
import { Registry } from "prom-client";
import { createGate, type Gate, type GateOptions } from "tidegate";
import { decideService } from "../../packages/tidegate-server/src/decide/decide-service.js";
import { type Listener, listen } from "../../packages/tidegate-server/src/listen/listen.js";
import type { DecideSettings, Settings } from "../../packages/tidegate-server/src/settings.js";
import { freePort } from "../servers/free-port.js";

export interface RigOptions extends Partial<GateOptions> {
  readonly settings?: Partial<Omit<Settings, "decide">> & { readonly decide?: Partial<DecideSettings> };
}

export interface LogLine {
  readonly level: string;
  readonly fields: unknown;
  readonly words: string;
}

/** A decision service on a port of its own, behind the server's own listener. */
export interface Rig {
  readonly url: string;
  readonly port: number;
  readonly gate: Gate;
  readonly registry: Registry;
  readonly logged: LogLine[];
  /** Requests that reached the service. */
  calls: number;
  /** Nobody listens any more. */
  kill(): Promise<void>;
  /** Somebody listens and never answers. */
  hang(): Promise<void>;
  close(): Promise<void>;
}

function settingsOf(given: RigOptions["settings"] = {}): Settings {
  const { decide, ...rest } = given;
  return {
    listen: { decide: { host: "127.0.0.1", port: 0 } },
    trustedProxies: [],
    clientIpHeader: "x-forwarded-for",
    identify: {},
    responses: { headers: "draft-11", status: 429 },
    ...rest,
    decide: { peers: ["127.0.0.1"], canFinish: false, hosts: [], ...decide },
  } as unknown as Settings;
}

export async function openRig({ settings, ...options }: RigOptions = {}): Promise<Rig> {
  const whole = settingsOf(settings);
  const gate = createGate({
    rules: [{ name: "req/ip", by: "ip", limits: "3 per 1h" }],
    onWarning: () => {},
    ...options,
  });
  const registry = new Registry();
  const logged: LogLine[] = [];
  const logAs = (level: string) => (fields: unknown, words: string) =>
    void logged.push({ level, fields, words });
  const log = {
    trace: logAs("trace"),
    debug: logAs("debug"),
    info: logAs("info"),
    warn: logAs("warn"),
    error: logAs("error"),
  } as never;
  const service = decideService({ settings: whole, gate, log, registry });
  const port = await freePort();
  let listener: Listener | undefined = await listen({
    name: "decide",
    address: { host: "127.0.0.1", port },
    handle: (req, res) => {
      rig.calls++;
      service.handle(req, res);
    },
    serverOptions: service.serverOptions,
    hosts: whole.decide.hosts,
    log,
  });
  let hung: Server | undefined;
  const rig: Rig = {
    url: `http://127.0.0.1:${port}`,
    port,
    gate,
    registry,
    logged,
    calls: 0,
    async kill() {
      await listener?.close(0);
      listener = undefined;
    },
    async hang() {
      await rig.kill();
      hung = createTcpServer((socket) => socket.on("error", () => {}));
      hung.listen(port, "127.0.0.1");
      await new Promise((resolve) => hung?.once("listening", resolve));
    },
    async close() {
      hung?.close();
      await rig.kill();
      await service.close();
      await gate.close();
    },
  };
  return rig;
}

/** An app that says what reached it. */
export interface App {
  readonly port: number;
  readonly seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[];
  status: number;
  close(): Promise<void>;
}

export async function openApp(): Promise<App> {
  const server = createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    app.seen.push({ method: req.method ?? "", url: req.url ?? "", headers: req.headers, body });
    res.writeHead(app.status, { "content-type": "text/plain" }).end("the app");
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const app: App = {
    port: (server.address() as AddressInfo).port,
    seen: [],
    status: 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return app;
}

/** What tests look for in an answer. */
export interface Said {
  readonly [name: string]: unknown;
  readonly id?: string;
  readonly allowed?: boolean;
  readonly code?: string;
  readonly detail?: string;
  readonly finish?: string;
  readonly words?: string;
  readonly decisions?: readonly Said[];
  readonly verdicts?: readonly { readonly rule: string; readonly key: string; readonly remaining: number }[];
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The body as JSON, empty when it is none. */
  readonly json: Said;
  readonly tookMs: number;
}

/** One request on a connection of its own; `localAddress` says as whom. */
export function ask(
  url: string,
  options: {
    method?: string;
    headers?: Record<string, string | string[]>;
    body?: unknown;
    localAddress?: string;
  } = {},
): Promise<Answered> {
  const { method = options.body === undefined ? "GET" : "POST", headers = {}, body, localAddress } = options;
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const req = httpRequest(url, {
      method,
      headers,
      agent: false,
      ...(localAddress !== undefined && { localAddress }),
    });
    req.once("error", reject);
    req.once("response", async (res) => {
      let text = "";
      for await (const piece of res) text += piece;
      resolve({
        status: res.statusCode ?? 0,
        headers: res.headers,
        text,
        json: parsed(text),
        tookMs: performance.now() - startedAt,
      });
    });
    if (body === undefined) req.end();
    else req.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
}

function parsed(text: string): Said {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** One request for each thing that may be said twice, and limits of one an hour by each of these. */
export const saidTwice = {
  rules: (["apiKey", "header:x-app", "cookie:sid", "account"] as const).map((by) => ({
    name: by.replace(":", "-"),
    by,
    limits: "1 per 1h" as const,
  })),
  settings: { identify: { account: "X-Login" } },
  requests: [
    ["X-API-Key: k", "X-API-Key: j"],
    ["X-App: k", "x-app: j"],
    ["Cookie: sid=j; sid=s"],
    ["Cookie: sid=j2", "Cookie: sid=s2"],
    ["X-Login: eva", "X-Login: j"],
  ],
};

/** A request of these header lines. */
export function sendLines(port: number, lines: readonly string[]): Promise<string> {
  return sendRaw(
    port,
    `${["GET / HTTP/1.1", "Host: a", "Connection: close", ...lines].join("\r\n")}\r\n\r\n`,
  );
}

/** Sends bytes as they are and answers all that comes back until the other side closes or `waitMs` are over. */
export function sendRaw(port: number, bytes: string | Buffer, waitMs = 5000): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket: Socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}
