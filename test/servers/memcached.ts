import { type ChildServer, startChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

export interface MemcachedOptions {
  port?: number;
  /** Further settings as on the command line: `["-m", "8"]`. */
  args?: readonly string[];
}

export async function startMemcached(options: MemcachedOptions = {}): Promise<ChildServer> {
  const port = options.port ?? (await freePort());
  const asRoot = process.getuid?.() === 0 ? ["-u", "root"] : []; // it refuses to run as root unless told to
  return startChildServer({
    command: "memcached",
    port,
    protocol: "memcached",
    args: () => [
      "-l",
      "127.0.0.1",
      "-p",
      String(port),
      "-U",
      "0",
      "-t",
      "2",
      ...asRoot,
      ...(options.args ?? []),
    ],
    ready: { send: "version\r\n", expect: "VERSION" },
  });
}
