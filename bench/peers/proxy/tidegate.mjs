import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIMIT } from "../../lib/settings.mjs";
import { edgeFaces } from "./tidegate-edges.mjs";
import { trackingFaces } from "./tidegate-tracking.mjs";

const portOf = (url) => Number(new URL(url).port);

/** A tidegate.yaml as a user writes it, on free ports; nobody reaches the limit unless it is another. */
function configure({ upstream, limit = `${LIMIT} per hour`, rules = "", more = "" }) {
  const dir = mkdtempSync(join(tmpdir(), "tidegate-bench-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "tidegate.yaml");
  const text = `
listen: { proxy: 127.0.0.1:0, admin: 127.0.0.1:0, decide: 127.0.0.1:0 }
upstreams: [ { url: "http://127.0.0.1:${upstream}" } ]
store: memory
data: ./data
proxy: { keepAlive: 10m }
decide: { peers: [127.0.0.0/8] }
policy:
  rules:
    - { name: req/ip, by: ip, limits: ["${limit}"] }
${rules}
${more}
`;
  writeFileSync(file, text);
  return file;
}

/** The whole server, as `tidegate start` runs it; its log goes nowhere. */
async function serve(options) {
  const { loadConfig, openLog, startServer } = await import("tidegate-server");
  const loaded = loadConfig({ file: configure(options) });
  return startServer(loaded, { log: openLog({ level: "info" }, { write() {} }) });
}

/** Who comes by a proxy, over and over, is refused and held. */
const HELD_RULE =
  '    - { name: told, by: "header:x-forwarded-for", limits: [50 per hour], hold: { after: 5, for: [1h] } }';

export const apps = {
  proxy: async (context) => ({ port: portOf((await serve(context)).urls.proxy) }),
  /** Behind a proxy that tells who asks; each client has one request. */
  "one-each": async (context) => {
    const trusts = "trustedProxies: [127.0.0.0/8]";
    const server = await serve({ ...context, limit: "1 per day", more: trusts });
    return { port: portOf(server.urls.proxy) };
  },
  /** Behind a proxy that tells who asks, with an admin's token; the clients of the load's own sockets reach no limit. */
  dashboard: async (context) => {
    const token = "the-admins-own-token";
    const more = `trustedProxies: [127.0.0.0/8]\nadmin: { token: ${token} }\nedges: { cdn: { kind: memory } }`;
    const server = await serve({ ...context, more, rules: HELD_RULE });
    return { port: portOf(server.urls.proxy), admin: server.urls.admin, token };
  },
  // The decision service needs no upstream; there is one in every file.
  decide: async () => ({ port: portOf((await serve({ upstream: 9 })).urls.decide) }),
  ...trackingFaces(configure),
  ...edgeFaces,
};
