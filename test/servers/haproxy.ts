import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChildServer, startChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

export interface HaproxyOptions {
  port?: number;
  /** What follows `global` and `defaults`. */
  sections: (place: { port: number; dir: string }) => string;
  /** Lie beside the configuration; those already there stay as they are, also after a restart. */
  files?: (dir: string) => Readonly<Record<string, string>>;
  /** Its listener on `port` wants to hear by PROXY protocol who the client is. */
  acceptsProxy?: boolean;
  /** A process that keeps another one at work, so that it can be reloaded. */
  hasMaster?: boolean;
}

export interface HaproxyServer extends ChildServer {
  readonly dir: string;
  /** The runtime API, level admin. */
  readonly socket: string;
  /** A new process takes over, as `systemctl reload haproxy` has it; only with a master. It takes a moment after this. */
  reload(): Promise<void>;
}

/** It has to answer `GET /_ready` with 200. */
export async function startHaproxy(options: HaproxyOptions): Promise<HaproxyServer> {
  const { acceptsProxy = false, hasMaster = false } = options;
  const port = options.port ?? (await freePort());
  let dir = "";
  const server = await startChildServer({
    command: "haproxy",
    port,
    protocol: "http",
    args: (made) => {
      dir = made;
      for (const [name, text] of Object.entries(options.files?.(dir) ?? {}))
        if (!existsSync(join(dir, name))) writeFileSync(join(dir, name), text);
      writeFileSync(join(dir, "haproxy.cfg"), configOf(dir) + options.sections({ port, dir }));
      return [
        ...(hasMaster ? ["-W", "-S", join(dir, "master.sock")] : []),
        "-db",
        "-f",
        join(dir, "haproxy.cfg"),
      ];
    },
    ready: {
      send: `${acceptsProxy ? "PROXY UNKNOWN\r\n" : ""}GET /_ready HTTP/1.0\r\n\r\n`,
      expect: "HTTP/1.1 200",
    },
  });
  return Object.assign(server, {
    dir,
    socket: join(dir, "admin.sock"),
    reload: () => askMaster(join(dir, "master.sock"), "reload"),
  });
}

/** It is deaf to signals until it listens here. */
async function askMaster(path: string, command: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const socket = connect(path);
    socket.end(`${command}\n`);
    socket.resume();
    try {
      await once(socket, "close");
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(10);
    }
  }
}

function configOf(dir: string): string {
  return `global
    stats socket ${dir}/admin.sock level admin
    hard-stop-after 1s
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
`;
}
