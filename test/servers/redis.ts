import { type ChildServer, startChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

export interface RedisOptions {
  port?: number;
  /** Further settings as on the command line: `["--maxmemory", "10mb"]`. */
  args?: readonly string[];
}

/** A redis-server that keeps nothing on disk: what it held is gone after `restart()`. */
export async function startRedis(options: RedisOptions = {}): Promise<ChildServer> {
  const port = options.port ?? (await freePort());
  return startChildServer({
    command: "redis-server",
    port,
    protocol: "redis",
    args: (dir) => ["--port", String(port), "--dir", dir, ...LEAN, ...(options.args ?? [])],
    ready: { send: "PING\r\n", expect: "+PONG" },
  });
}

const LEAN = [
  ...["--bind", "127.0.0.1"],
  ...["--save", ""],
  ...["--appendonly", "no"],
  ...["--daemonize", "no"],
  ...["--loglevel", "warning"],
];
