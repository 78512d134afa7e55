import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { cpuMicros, ownFolder, startFront } from "./edge-front.mjs";
import { freePort } from "./redis-server.mjs";

const MAPS = ["digests.map", "addresses.map", "mode.map"];

/** One thread, connections kept, nothing logged. Without an app it answers everybody itself; with one, probes that our rules let pass. */
const configOf = ({ socket, ports, rules, app }) => `global
  stats socket ${socket} mode 600 level admin
  maxconn 4000
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout http-keep-alive 600s
frontend front
  bind 127.0.0.1:${ports.plain}
  bind 127.0.0.1:${ports.proxied} accept-proxy
${rules}
${
  app === undefined
    ? '  http-request return status 200 content-type text/plain string "hello~"'
    : `  http-request return status 200 content-type text/plain string "hello~" if { req.hdr(x-probe) -m found }
  default_backend app
backend app
  option forwardfor
  http-reuse always
  server app 127.0.0.1:${app}`
}
`;

/** One command to the runtime API, on a connection of its own. */
const ask = (socket, command) =>
  new Promise((resolve, reject) => {
    let answer = "";
    const connection = connect(socket, () => connection.write(`${command}\n`));
    connection.setEncoding("latin1").on("data", (text) => (answer += text));
    connection.once("error", reject).once("end", () => resolve(answer));
  });

/**
 * HAProxy with our rules, in front of an app. `render` makes them of a folder of maps. Clients come to `port`, or to
 * `proxiedPort` if they say who they are by the PROXY protocol.
 */
export async function startHaproxy({ render, app }) {
  const dir = ownFolder();
  const maps = join(dir, "maps");
  mkdirSync(maps);
  for (const map of MAPS) writeFileSync(join(maps, map), "");
  const socket = join(dir, "admin.sock");
  const ports = { plain: await freePort(), proxied: await freePort() };
  writeFileSync(join(dir, "haproxy.cfg"), configOf({ socket, ports, rules: render(maps), app }));
  const pid = await startFront("haproxy", ["-db", "-f", join(dir, "haproxy.cfg")], Object.values(ports));
  const held = MAPS.slice(0, 2).map((map) => join(maps, map));
  return {
    port: ports.plain,
    proxiedPort: ports.proxied,
    pids: [pid],
    settings: `{ kind: haproxy, socket: ${socket}, maps: ${maps}, maxEntries: 100000 }`,
    edge: { kind: "haproxy", socket, maps, keepsFiles: false, maxEntries: 100_000 },
    cpuMicros: () => cpuMicros([pid]),
    countEveryMs: 10,
    /** How many entries stand there. */
    async count() {
      const lines = (await ask(socket, "show map"))
        .split("\n")
        .filter((line) => held.some((map) => line.includes(`(${map})`)));
      return lines.reduce((sum, line) => sum + Number(/entry_cnt=(\d+)/.exec(line)?.[1] ?? Number.NaN), 0);
    },
    /** Those of the keys that stand there. */
    async standing(keys) {
      const answers = await Promise.all(held.map((map) => ask(socket, `show map ${map}`)));
      const there = new Set(
        answers.flatMap((answer) => answer.split("\n").map((line) => line.split(" ")[1])),
      );
      return keys.filter((key) => there.has(key));
    },
    /** Loses everything. */
    async wipe() {
      for (const map of held) await ask(socket, `clear map ${map}`);
    },
  };
}
