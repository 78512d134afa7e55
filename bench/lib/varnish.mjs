import { readFileSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { cpuMicros, listens, ownFolder, runTool, startFront } from "./edge-front.mjs";
import { freePort } from "./redis-server.mjs";

/** With an app nothing is cached: each request goes to it, but for probes. Without one everybody gets the same cached page. */
const mainOf = ({ dir, app }) => `vcl 4.1;
include "${join(dir, "tidegate.vcl")}";
backend default { .host = "127.0.0.1"; .port = "${app ?? 9}"; }
${
  app === undefined
    ? `sub vcl_recv { unset req.http.Cookie; }
sub vcl_backend_fetch { return (error(200, "OK")); }
sub vcl_backend_error {
  set beresp.ttl = 1d;
  set beresp.http.Content-Type = "text/plain";
  synthetic("hello~");
  return (deliver);
}`
    : `sub vcl_recv { return (pass); }
sub vcl_pass { if (req.http.X-Probe) { return (synth(200)); } }`
}
`;

/** The process that has the cache; undefined while there is none. */
function cacheOf(pid) {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return first === "" ? undefined : Number(first);
}

/** As `startHaproxy`; `render` makes a file of nothing. */
export async function startVarnish({ render, app }) {
  const dir = ownFolder();
  writeFileSync(join(dir, "tidegate.vcl"), render());
  writeFileSync(join(dir, "main.vcl"), mainOf({ dir, app }));
  const ports = { plain: await freePort(), proxied: await freePort(), orders: await freePort() };
  const work = join(dir, "work");
  const args = ["-F", "-j", "none", "-n", work, "-f", join(dir, "main.vcl"), "-s", "default,256m"];
  const listeners = [
    `plain=127.0.0.1:${ports.plain}`,
    `proxied=127.0.0.1:${ports.proxied},PROXY`,
    `tidegate=127.0.0.1:${ports.orders}`,
  ].flatMap((listener) => ["-a", listener]);
  const pid = await startFront(
    "varnishd",
    [...args, ...listeners, "-p", "timeout_idle=600"],
    Object.values(ports),
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const orders = `http://127.0.0.1:${ports.orders}`;
  const isThere = (key) =>
    new Promise((resolve, reject) => {
      get(`${orders}/tidegate/${key}`, { agent }, (res) => {
        res.resume().once("end", () => resolve(res.statusCode === 200));
      }).once("error", reject);
    });
  return {
    port: ports.plain,
    proxiedPort: ports.proxied,
    pids: [pid, cacheOf(pid)],
    settings: `{ kind: varnish, url: "${orders}", maxEntries: 100000 }`,
    edge: { kind: "varnish", url: orders, maxEntries: 100_000 },
    cpuMicros: () => cpuMicros([cacheOf(pid)]),
    /** Asking takes a process each time. */
    countEveryMs: 100,
    /** How many entries stand there, and what else is in the cache. */
    async count() {
      const said = await runTool("varnishstat", ["-1", "-n", work, "-f", "MAIN.n_object"]);
      return Number(/^MAIN\.n_object\s+(\d+)/m.exec(said)?.[1] ?? Number.NaN);
    },
    async standing(keys) {
      const found = await Promise.all(keys.map(isThere));
      return keys.filter((_, i) => found[i]);
    },
    /** Its cache's process dies, and another one begins with an empty cache. */
    async wipe() {
      const old = cacheOf(pid);
      process.kill(old, "SIGKILL");
      while ([old, undefined].includes(cacheOf(pid))) await pause(5);
      await listens(ports.orders);
    },
  };
}
