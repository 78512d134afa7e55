import { connect } from "node:net";
import { onTestFinished } from "vitest";
import { renderHaproxy } from "../../packages/tidegate-server/src/edges/haproxy/render-haproxy.js";
import { renderVarnish } from "../../packages/tidegate-server/src/edges/varnish/render-varnish.js";
import { freePort, type HaproxyServer, startHaproxy } from "../servers/index.js";
import { proxyLine, startVarnish, type Varnish } from "../servers/varnish.js";
import { type App, openApp } from "./decide-rig.js";
import {
  type After,
  configFile,
  type Running,
  runTidegate,
  startTidegate,
  temporaryFolder,
} from "./running.js";

export type FrontName = "haproxy" | "varnish";

/** Clients → real HAProxy and real Varnish → `tidegate start` → an app; the loop from there back to both. */
export interface EdgesRig {
  readonly app: App;
  readonly haproxy: HaproxyServer;
  readonly varnish: Varnish;
  readonly tidegates: Running[];
  /** One request on a connection of its own; the whole answer. */
  visit(front: FrontName, visit: Visit): Promise<Visited>;
  /** Another process of the same file on other ports. */
  startAnother(): Promise<Running>;
  /** A verb of the command line, asked of the first process. */
  tidegate(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Straight from the runtime API. */
  haproxySays(command: string): Promise<string>;
}

export interface Visit {
  readonly address?: string;
  readonly method?: string;
  readonly path?: string;
  readonly userAgent?: string;
  readonly headers?: readonly string[];
}

export interface Visited {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  /** The front itself refused; Tidegate's own answers read otherwise. */
  readonly isRefusedThere: boolean;
}

export interface EdgesRigOptions {
  /** Lines of tidegate.yaml. */
  readonly control?: string;
  readonly store?: string;
  readonly rules?: string;
  /** Takes what has to be done in the end. Default: after the test. */
  readonly after?: After;
}

const usualControl = `
  track: { methods: [GET, POST], standard: 40 per 10s, broad: 60 per 10s, halfLife: 5s, holdFor: [1m, 5m] }
  every: 1s
`;

export async function openEdgesRig(options: EdgesRigOptions = {}): Promise<EdgesRig> {
  const { control = usualControl, store = "memory", rules = "[]", after = onTestFinished } = options;
  const app = await openApp();
  after(() => app.close());
  const proxyPort = await freePort();
  const [haproxy, varnish] = await Promise.all([
    haproxyBefore(proxyPort, after),
    varnishBefore(proxyPort, after),
  ]);
  const folder = temporaryFolder(after);
  const file = configFile(
    folder,
    `upstreams: [{ url: "http://127.0.0.1:${app.port}" }]
trustedProxies: [127.0.0.1]
failure: { deadline: 10s }
store: ${store}
control: ${control.trim().startsWith("{") ? control : `\n${control.replace(/^\n/, "")}`}
edges:
  haproxy: { kind: haproxy, socket: ${haproxy.socket}, maps: ${haproxy.dir}, keepsFiles: false }
  varnish: { kind: varnish, url: "http://127.0.0.1:${varnish.ordersPort}" }
policy:
  rules: ${rules}
`,
  );
  const start = (...args: string[]): Promise<Running> =>
    startTidegate({ args: ["--config", file, ...args], folder, after });
  const tidegates = [await start("--listen", `127.0.0.1:${proxyPort}`)];
  const ports = { haproxy: haproxy.port, varnish: varnish.port };
  return {
    app,
    haproxy,
    varnish,
    tidegates,
    visit: (front, visit) => visitAt(ports[front], visit),
    async startAnother() {
      const another = await start("--data", temporaryFolder(after));
      tidegates.push(another);
      return another;
    },
    tidegate: (...args) => runTidegate([...args, "--url", tidegates[0]?.admin as string], { folder, after }),
    haproxySays: (command) => exchange({ path: haproxy.socket }, `${command}\n`),
  };
}

async function haproxyBefore(tidegate: number, after: After): Promise<HaproxyServer> {
  const haproxy = await startHaproxy({
    acceptsProxy: true,
    files: () => ({ "digests.map": "", "addresses.map": "", "mode.map": "" }),
    sections: ({ port, dir }) => `frontend public
    bind 127.0.0.1:${port} accept-proxy
    http-request return status 200 if { path /_ready }
${renderHaproxy({ maps: dir }).files[0]?.text}
    http-request set-header X-Forwarded-For %[src]
    default_backend tidegate
backend tidegate
    server tidegate 127.0.0.1:${tidegate}
`,
  });
  after(() => haproxy.stop());
  return haproxy;
}

async function varnishBefore(tidegate: number, after: After): Promise<Varnish> {
  const files = Object.fromEntries(renderVarnish({}).files.map(({ name, text }) => [name, text]));
  const varnish = await startVarnish({
    files,
    vcl: `vcl 4.1;
include "tidegate.vcl";
backend default { .host = "127.0.0.1"; .port = "${tidegate}"; }
sub vcl_backend_response { set beresp.uncacheable = true; }
`,
  });
  after(() => varnish.stop());
  return varnish;
}

async function visitAt(port: number, visit: Visit): Promise<Visited> {
  const { address = "203.0.113.7", method = "GET", path = "/", userAgent, headers = [] } = visit;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "Host: shop.example",
    "Connection: close",
    ...(method === "POST" ? ["Content-Length: 0"] : []),
    ...(userAgent === undefined ? [] : [`User-Agent: ${userAgent}`]),
    ...headers,
  ];
  const text = await exchange({ port }, `${proxyLine(address)}${lines.join("\r\n")}\r\n\r\n`);
  const end = text.indexOf("\r\n\r\n");
  const [head, body] = [text.slice(0, end), text.slice(end + 4)];
  const status = Number(head.split(" ")[1]);
  return { status, head, body, isRefusedThere: status === 429 && body === "<h1>Too Many Requests</h1>" };
}

/** Writes, and reads until the other side closes. */
function exchange(place: { path: string } | { port: number }, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect("path" in place ? place : { ...place, host: "127.0.0.1" });
    socket.setTimeout(20_000, () => socket.destroy(new Error("no answer")));
    socket.once("connect", () => socket.write(Buffer.from(bytes, "latin1")));
    socket.on("data", (piece) => pieces.push(piece));
    socket.once("error", reject);
    socket.once("close", () => resolve(Buffer.concat(pieces).toString("latin1")));
  });
}
