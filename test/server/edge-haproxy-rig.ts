import { connect } from "node:net";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import { haproxyEdge } from "../../packages/tidegate-server/src/edges/haproxy/haproxy-edge.js";
import {
  type HaproxyRenderOptions,
  renderHaproxy,
} from "../../packages/tidegate-server/src/edges/haproxy/render-haproxy.js";
import type { HaproxyEdgeSettings } from "../../packages/tidegate-server/src/settings.js";
import { type HaproxyServer, startHaproxy } from "../servers/index.js";
import { type App, openApp } from "./decide-rig.js";

export interface HaproxyRig {
  readonly app: App;
  readonly haproxy: HaproxyServer;
  readonly paths: Readonly<Record<MapName, string>>;
  /** Our adapter; each call opens another one. */
  openEdge(options?: Partial<HaproxyEdgeSettings>): Edge;
  /** Straight to the runtime API, on a connection of its own. */
  say(command: string): Promise<string>;
  /** `show map`, without the places in memory. */
  show(map: MapName): Promise<string[]>;
  close(): Promise<void>;
}

export type MapName = "digests" | "addresses" | "mode";

export interface HaproxyRigOptions extends Omit<HaproxyRenderOptions, "maps"> {
  readonly hasMaster?: boolean;
  /** Rules after ours. */
  readonly rules?: string;
  readonly files?: Readonly<Partial<Record<MapName, string>>>;
}

/** Real HAProxy with exactly what `render` wrote, in front of an app. Clients say by PROXY protocol where they are. */
export async function openHaproxyRig(options: HaproxyRigOptions = {}): Promise<HaproxyRig> {
  const { hasMaster = false, rules = "", files = {}, ...render } = options;
  const app = await openApp();
  const haproxy = await startHaproxy({
    acceptsProxy: true,
    hasMaster,
    files: () => ({
      "digests.map": files.digests ?? "",
      "addresses.map": files.addresses ?? "",
      "mode.map": files.mode ?? "",
    }),
    sections: ({ port, dir }) => `frontend public
    bind 127.0.0.1:${port} accept-proxy
    http-request return status 200 if { path /_ready }
${renderHaproxy({ ...render, maps: dir }).files[0]?.text}
${rules}
    default_backend app
backend app
    server app 127.0.0.1:${app.port}
`,
  });
  const { dir, socket } = haproxy;
  const paths = { digests: `${dir}/digests.map`, addresses: `${dir}/addresses.map`, mode: `${dir}/mode.map` };
  const say = (command: string) => exchange({ path: socket }, `${command}\n`);

  return {
    app,
    haproxy,
    paths,
    openEdge: (given = {}) =>
      haproxyEdge({
        kind: "haproxy",
        name: "front",
        socket,
        maps: dir,
        keepsFiles: false,
        maxEntries: 100_000,
        ...given,
      }),
    say,
    async show(map) {
      const lines = (await say(`show map ${paths[map]}`)).split("\n");
      return lines.filter((line) => line !== "").map((line) => line.replace(/^0x\w+ /, ""));
    },
    async close() {
      await haproxy.stop();
      await app.close();
    },
  };
}

export interface Visit {
  /** As whom. */
  readonly address?: string;
  readonly method?: string;
  readonly host?: string;
  readonly path?: string;
  /** One character per byte; undefined: no such header. */
  readonly userAgent?: string | undefined;
  /** Further lines. */
  readonly headers?: readonly string[];
}

/** One request, byte for byte as written, and the whole answer. */
export function visit(rig: HaproxyRig, given: Visit = {}): Promise<string> {
  const { address = "203.0.113.7", method = "GET", host = "www.example.com", path = "/", userAgent } = given;
  const [family, own] = address.includes(":") ? ["TCP6", "2001:db8::ffff"] : ["TCP4", "192.0.2.1"];
  const lines = [
    `PROXY ${family} ${address} ${own} 40000 80`,
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...(userAgent === undefined ? [] : [`User-Agent: ${userAgent}`]),
    ...(given.headers ?? []),
    "Connection: close",
  ];
  return exchange({ port: rig.haproxy.port }, `${lines.join("\r\n")}\r\n\r\n`);
}

export async function statusOf(rig: HaproxyRig, given: Visit = {}): Promise<number> {
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec(await visit(rig, given))?.[1]);
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
