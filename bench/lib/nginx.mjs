import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pinMeasured } from "./pinning.mjs";
import { freePort } from "./redis-server.mjs";

// Debian puts it where only root's PATH leads.
const FOLDERS = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];

export const findNginx = () =>
  FOLDERS.map((folder) => join(folder, "nginx")).find((path) => existsSync(path));

/** One worker, connections to the upstream kept, nothing logged. */
const configOf = (dir, port, upstream) => `daemon off;
master_process off;
pid ${dir}/nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_timeout 600s;
  keepalive_requests 1000000000;
  tcp_nodelay on;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `  ${kind}_temp_path ${dir}/${kind};`).join("\n")}
  upstream app {
    server 127.0.0.1:${upstream};
    keepalive 256;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://app;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`;

const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
  });

/** User and system time of a process in µs: Linux counts them in hundredths of a second. */
function cpuMicros(pid) {
  if (process.platform !== "linux") return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

export async function startNginx(upstream) {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), "tidegate-bench-"));
  writeFileSync(join(dir, "nginx.conf"), configOf(dir, port, upstream));
  const args = ["-p", dir, "-c", join(dir, "nginx.conf"), "-e", "stderr"];
  const child = spawn(findNginx(), args, { stdio: ["ignore", "ignore", "inherit"] });
  process.once("exit", () => {
    child.kill("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  });
  pinMeasured(child.pid);
  while (child.exitCode === null && !(await accepts(port))) await new Promise((done) => setTimeout(done, 20));
  if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
  return { port, cpuMicros: () => cpuMicros(child.pid) };
}
