import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChildServer, startChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

export interface CaddyOptions {
  port?: number;
  /** The Caddyfile after its global options; further files lie beside it, so that it may `import` them by their names. */
  sites: (place: { port: number }) => string;
  files?: Readonly<Record<string, string>>;
}

/** It has to answer `GET /_ready` with 200. */
export async function startCaddy(options: CaddyOptions): Promise<ChildServer> {
  const port = options.port ?? (await freePort());
  return startChildServer({
    command: "caddy",
    port,
    protocol: "http",
    args: (dir) => {
      for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(dir, name), text);
      const globals = `{\n\tadmin off\n\tauto_https off\n\tstorage file_system ${dir}\n}\n`;
      writeFileSync(join(dir, "Caddyfile"), globals + options.sites({ port }));
      return ["run", "--config", join(dir, "Caddyfile"), "--adapter", "caddyfile"];
    },
    ready: { send: "GET /_ready HTTP/1.0\r\nHost: localhost\r\n\r\n", expect: "HTTP/1.0 200" },
  });
}
