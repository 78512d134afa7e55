import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChildServer, startChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

export interface NginxOptions {
  port?: number;
  /** What stands in `http { }`; further files lie beside it, so that it may `include` them by their names. */
  http: (place: { port: number; dir: string }) => string;
  files?: (dir: string) => Readonly<Record<string, string>>;
  /** A master with workers, as it runs in earnest: it can be told to reload (`<dir>/nginx.pid`). */
  hasMaster?: boolean;
}

/** One process, unless told otherwise, so that a kill ends it wholly. It has to answer `GET /_ready` with 200. */
export async function startNginx(options: NginxOptions): Promise<ChildServer> {
  const port = options.port ?? (await freePort());
  return startChildServer({
    command: "nginx",
    port,
    protocol: "http",
    args: (dir) => {
      for (const [name, text] of Object.entries(options.files?.(dir) ?? {}))
        writeFileSync(join(dir, name), text);
      const http = options.http({ port, dir });
      writeFileSync(join(dir, "nginx.conf"), configOf(dir, http, options.hasMaster === true));
      return ["-p", dir, "-c", join(dir, "nginx.conf"), "-e", "stderr"];
    },
    ready: { send: "GET /_ready HTTP/1.0\r\n\r\n", expect: "HTTP/1.1 200" },
    ...(options.hasMaster === true && { endsBy: "SIGTERM" }),
  });
}

function configOf(dir: string, http: string, hasMaster: boolean): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${dir}/${kind};`,
  );
  return `daemon off;
${hasMaster ? `worker_processes 2;${process.getuid?.() === 0 ? " user root;" : ""}` : "master_process off;"}
pid ${dir}/nginx.pid;
error_log stderr error;
events { worker_connections 256; }
http {
access_log off;
${temporary.join("\n")}
${http}
}
`;
}
