import { execFileSync } from "node:child_process";
import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { renderVarnish } from "../../packages/tidegate-server/src/edges/varnish/render-varnish.js";
import type { VarnishRenderOptions } from "../../packages/tidegate-server/src/edges/varnish/varnish-options.js";
import { proxyLine, startVarnish, type Varnish } from "../servers/varnish.js";

/** Real Varnish with exactly what `render` wrote, in front of an origin that counts. */
export interface VarnishRig {
  readonly varnish: Varnish;
  readonly orders: string;
  readonly origin: Origin;
  /** A client's request, byte for byte as told. */
  send(options?: SendOptions): Promise<Answer>;
  /** An order, as curl gives it. */
  order(method: string, path: string, headers?: Record<string, string>): Promise<Ordered>;
  /** By Varnish's own command line: `ban`, `param.set`. */
  admin(...words: string[]): string;
  close(): Promise<void>;
}

export interface Origin {
  readonly port: number;
  readonly seen: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[];
  /** What it says from now on. */
  status: number;
  headers: Record<string, string>;
  /** Undefined: how often it was asked. */
  body: string | undefined;
}

export interface SendOptions {
  readonly address?: string;
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  /** Latin-1; undefined: none is sent. */
  readonly userAgent?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

export interface Answer {
  readonly statusLine: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Ordered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface VarnishRigOptions {
  readonly render?: VarnishRenderOptions;
  /** The rest of the main file. */
  readonly vcl?: string;
  readonly args?: readonly string[];
}

const commandLine = "varnishadm";

export async function openVarnish({
  render = {},
  vcl = "",
  args = [],
}: VarnishRigOptions = {}): Promise<VarnishRig> {
  const { origin, close } = await openOrigin();
  const files = Object.fromEntries(renderVarnish(render).files.map(({ name, text }) => [name, text]));
  const varnish = await startVarnish({
    files,
    vcl: `vcl 4.1;
include "tidegate.vcl";
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
${vcl}`,
    args,
  });
  const orders = `http://127.0.0.1:${varnish.ordersPort}`;
  return {
    varnish,
    orders,
    origin,
    send: (options = {}) => send(varnish.port, options),
    order: (method, path, headers = {}) => order(`${orders}${path}`, method, headers),
    admin: (...words) =>
      execFileSync(commandLine, ["-n", varnish.dir, ...words], { encoding: "utf8", stdio: "pipe" }),
    async close() {
      await varnish.stop();
      await close();
    },
  };
}

async function openOrigin(): Promise<{ origin: Origin; close(): Promise<void> }> {
  const server = createServer({ maxHeaderSize: 65_536 }, async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    const { method = "", url = "", headers } = req;
    if (url === "/_ready") return void res.writeHead(200, { "cache-control": "no-store" }).end();
    origin.seen.push({ method, url, headers, body });
    res
      .writeHead(origin.status, { "content-type": "text/plain", ...origin.headers })
      .end(origin.body ?? `the origin, ${origin.seen.length}`);
  });
  server.on("upgrade", ({ method = "", url = "", headers }, socket) => {
    origin.seen.push({ method, url, headers, body: "" });
    socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const origin: Origin = {
    port: (server.address() as AddressInfo).port,
    seen: [],
    status: 200,
    headers: {},
    body: undefined,
  };
  return {
    origin,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One request on a connection of its own. */
function send(port: number, options: SendOptions): Promise<Answer> {
  const {
    address = "203.0.113.7",
    method = "GET",
    path = "/",
    host = "shop.example",
    userAgent,
    headers = [],
    body,
  } = options;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: close",
    ...(userAgent === undefined ? [] : [`User-Agent: ${userAgent}`]),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body, "latin1")}`]),
    ...headers,
  ].filter(
    (line) => !(line.startsWith("Connection") && headers.some((other) => other.startsWith("Connection"))),
  );
  return exchange(port, `${proxyLine(address)}${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

/** Writes, and reads until Varnish closes. */
export function exchange(port: number, request: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(request, "latin1"));
    socket.setTimeout(30_000, () => socket.destroy(new Error("no answer")));
    socket.on("data", (piece) => pieces.push(piece));
    socket.on("error", reject);
    socket.on("close", () => resolve(answerIn(Buffer.concat(pieces).toString("latin1"))));
  });
}

function answerIn(text: string): Answer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  return { statusLine, status: Number(statusLine.split(" ")[1]), headers, body: text.slice(end + 4) };
}

function order(url: string, method: string, headers: Record<string, string>): Promise<Ordered> {
  return new Promise((resolve, reject) => {
    const req = httpRequest(url, { method, headers, agent: false }, async (res) => {
      let text = "";
      for await (const piece of res) text += piece;
      resolve({ status: res.statusCode ?? 0, headers: res.headers, text });
    });
    req.once("error", reject);
    req.end();
  });
}
