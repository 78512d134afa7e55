import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChildServer, startChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";
import { untilStopped } from "./stopped.js";

export interface VarnishOptions {
  port?: number;
  /** Of the listener `tidegate`, which takes orders. */
  ordersPort?: number;
  /** The main file; further files lie beside it, so that it may `include` them by their names. */
  vcl: string;
  files?: Readonly<Record<string, string>>;
  /** Its clients begin with a line of the PROXY protocol, which says who they are. Default true. */
  speaksProxy?: boolean;
  /** Further settings as on the command line: `["-s", "table=default,1m"]`. */
  args?: readonly string[];
}

export interface Varnish extends ChildServer {
  readonly ordersPort: number;
  /** For `varnishadm -n`. */
  readonly dir: string;
}

/** Compiles its VCL first, which takes about a second. It is ready when it answers anything at all. */
export async function startVarnish(options: VarnishOptions): Promise<Varnish> {
  const { port = await freePort(), ordersPort = await freePort(), speaksProxy = true } = options;
  let place = "";
  const server = await startChildServer({
    command: "varnishd",
    port,
    protocol: "http",
    args: (dir) => {
      place = dir;
      for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(dir, name), text);
      writeFileSync(join(dir, "main.vcl"), options.vcl);
      return [
        ...["-F", "-j", "none", "-n", dir, "-f", join(dir, "main.vcl"), "-p", `vcl_path=${dir}`],
        ...["-a", `public=127.0.0.1:${port}${speaksProxy ? ",PROXY" : ""}`],
        ...["-a", `tidegate=127.0.0.1:${ordersPort}`],
        ...["-s", "default,64m", "-p", "vsl_space=8m", "-p", "thread_pool_min=10"],
        ...(options.args ?? []),
      ];
    },
    ready: {
      send: `${speaksProxy ? proxyLine("127.0.0.1") : ""}GET /_ready HTTP/1.0\r\n\r\n`,
      expect: "HTTP/1.1 ",
    },
  });

  /** What answers is a child of the process that was started. */
  const workers = (): number[] => childrenOf(server.pid);

  async function afterwards(act: () => Promise<void>): Promise<void> {
    const before = workers();
    for (const pid of before) signal(pid, "SIGCONT");
    await act();
    while (before.some((pid) => signal(pid, 0))) await sleep(5);
  }

  return {
    port,
    ordersPort,
    dir: place,
    url: server.url,
    get pid() {
      return server.pid;
    },
    freeze() {
      const all = [server.pid, ...workers()];
      for (const pid of all) signal(pid, "SIGSTOP");
      for (const pid of all) untilStopped(pid);
    },
    thaw() {
      for (const pid of [server.pid, ...workers()]) signal(pid, "SIGCONT");
    },
    stop: () => afterwards(server.stop),
    kill: () => afterwards(server.kill),
    async restart() {
      await afterwards(server.kill);
      await server.restart();
    },
  };
}

/** How a client of the PROXY protocol says who it is. */
export function proxyLine(address: string): string {
  const isV6 = address.includes(":");
  return `PROXY ${isV6 ? "TCP6" : "TCP4"} ${address} ${isV6 ? "::1" : "127.0.0.1"} 50000 80\r\n`;
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function signal(pid: number, which: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, which);
  } catch {
    return false;
  }
}
