import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, vi } from "vitest";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import { nginxMapEdge } from "../../packages/tidegate-server/src/edges/nginx-map/nginx-map-edge.js";
import { renderNginxMap } from "../../packages/tidegate-server/src/edges/nginx-map/render-nginx-map.js";
import { type ChildServer, freePort, startNginx } from "../servers/index.js";
import { type App, openApp, sendRaw } from "./decide-rig.js";

/** Real nginx with exactly what is rendered, in front of an app; clients have whatever address they say by PROXY protocol. */
export interface NginxMapRig {
  readonly nginx: ChildServer;
  readonly app: App;
  /** The edge's file, and nginx's. */
  readonly file: string;
  readonly pidFile: string;
  readonly config: string;
  open(reloadMs?: number): Edge;
  /** Through nginx to the app. */
  ask(address: string, head?: string, lines?: readonly string[]): Promise<string>;
  /** What nginx itself takes an address for, whatever the mode: `1|1700000000 Tue, …`. */
  peek(address: string): Promise<string>;
  /** Does what makes nginx reload, and waits until nobody who knew the old files is left. */
  reloaded(act: () => unknown): Promise<void>;
  close(): Promise<void>;
}

export async function openNginxMapRig(httpToo = ""): Promise<NginxMapRig> {
  const folder = await mkdtemp(join(tmpdir(), "tidegate-held-"));
  const file = join(folder, "held.conf");
  const { files } = renderNginxMap({ file });
  const [http, server, location] = files.map(({ text }) => text) as [string, string, string];
  await writeFile(file, "");
  const app = await openApp();
  const proxied = await freePort();
  let dir = "";
  const nginx = await startNginx({
    hasMaster: true,
    http: (place) => {
      dir = place.dir;
      return `${http}${httpToo}
set_real_ip_from 127.0.0.1;
real_ip_header proxy_protocol;
server {
  listen 127.0.0.1:${place.port};
  location = /_ready { return 200; }
}
server {
  listen 127.0.0.1:${proxied} proxy_protocol default_server;
  ${server}
  location / {
    ${location}
    proxy_pass http://127.0.0.1:${app.port};
  }
}
server {
  listen 127.0.0.1:${proxied} proxy_protocol;
  server_name peek;
  location / { return 200 "$tidegate_held|$tidegate_entry"; }
}`;
    },
  });

  async function send(address: string, head: string, lines: readonly string[]): Promise<string> {
    const v = address.includes(":") ? "TCP6" : "TCP4";
    const here = address.includes(":") ? "::1" : "127.0.0.1";
    const request = [
      `PROXY ${v} ${address} ${here} 40000 80`,
      `${head} HTTP/1.1`,
      ...lines,
      "Connection: close",
    ];
    return sendRaw(proxied, Buffer.from(`${request.join("\r\n")}\r\n\r\n`, "latin1"));
  }

  /** Waits until none of the workers from before the act is left. */
  async function replaced(act: () => unknown): Promise<void> {
    const before = await workersOf(nginx.pid);
    await act();
    await vi.waitFor(
      async () => {
        const now = await workersOf(nginx.pid);
        expect(now.filter((pid) => before.includes(pid))).toEqual([]);
      },
      { timeout: 30_000, interval: 10 },
    );
  }

  const pidFile = join(dir, "nginx.pid");
  return {
    nginx,
    app,
    file,
    pidFile,
    config: join(dir, "nginx.conf"),
    open: (reloadMs = 20) => nginxMapEdge({ name: "web", file, pidFile, reloadMs, maxEntries: 400 }),
    ask: (address, head = "GET /", lines = []) => send(address, head, ["Host: shop.example", ...lines]),
    async peek(address) {
      const answer = await send(address, "GET /", ["Host: peek"]);
      return answer.slice(answer.indexOf("\r\n\r\n") + 4);
    },
    async reloaded(act) {
      await replaced(act);
      // The first may have been a reload already under way, which read the files before the act.
      await replaced(() => process.kill(nginx.pid, "SIGHUP"));
    },
    async close() {
      await nginx.stop();
      await app.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** nginx's own children. */
async function workersOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").map(Number);
}
