import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ownFolder } from "../../lib/edge-front.mjs";
import { startHaproxy } from "../../lib/haproxy.mjs";
import { pinMeasured } from "../../lib/pinning.mjs";
import { freePort, startRedis } from "../../lib/redis-server.mjs";
import { LIMIT } from "../../lib/settings.mjs";
import { startVarnish } from "../../lib/varnish.mjs";
import { room } from "./tidegate-tracking.mjs";

/** A front of each kind with what we render for it. */
const fronts = {
  async haproxy(app) {
    const { renderHaproxy } = await room("./edges/haproxy/render-haproxy.js");
    return startHaproxy({ render: (maps) => renderHaproxy({ maps }).files[0].text, app });
  },
  async varnish(app) {
    const { renderVarnish } = await room("./edges/varnish/render-varnish.js");
    return startVarnish({ render: () => renderVarnish().files[0].text, app });
  },
};

/**
 * Nobody reaches the policy's limit: only the edge refuses. With so long a half-life it is the same request that crosses however fast
 * they come. All clients here are held: the guards would find that unusual.
 */
const configOf = ({ port, upstream, redis, edge }) => `
listen: { proxy: 127.0.0.1:${port}, admin: 127.0.0.1:0, decide: 127.0.0.1:0 }
upstreams: [ { url: "http://127.0.0.1:${upstream}" } ]
store: redis://127.0.0.1:${redis}
data: ./data
trustedProxies: [127.0.0.1]
proxy: { keepAlive: 10m }
control:
  track: { standard: "30 per hour", broad: "${LIMIT} per hour", halfLife: 1h }
  guard: { newPerMinute: 1000000, share: 1 }
edges:
  front: ${edge}
policy:
  rules:
    - { name: req/ip, by: ip, limits: ["${LIMIT} per hour"] }
`;

/** The whole server, as `tidegate start` runs it, with its Redis, behind a front that is its edge. */
async function serve(kind, { upstream }) {
  const { loadConfig, openLog, startServer } = await import("tidegate-server");
  const redis = await startRedis();
  const port = await freePort();
  const front = await fronts[kind](port);
  const file = join(ownFolder(), "tidegate.yaml");
  writeFileSync(file, configOf({ port, upstream, redis: redis.port, edge: front.settings }));
  const log = openLog({ level: "info" }, { write() {} });
  const loaded = loadConfig({ file });
  const server = await startServer(loaded, { log });
  return {
    ...front,
    /** How the server says its edge is. */
    async status() {
      const answer = await fetch(`${server.urls.admin}/v1/edges`);
      return (await answer.json()).edges[0];
    },
    hold: (offenders) =>
      withData(loaded.settings, log, async (data) => {
        for (let i = 0; i < offenders.length; i += AT_ONCE)
          await Promise.all(offenders.slice(i, i + AT_ONCE).map((offender) => data.offenders.add(offender)));
      }),
    /** Lets everybody go, as a person does; answers when the edge knows. */
    release: () =>
      withData(loaded.settings, log, async (data) => {
        const keys = (await data.offenders.now()).map(({ key }) => key);
        await data.edgeBook.addClears(keys, { until: Date.now() + RELEASE_MS, who: "bench" });
        await data.offenders.remove(keys);
        while ((await (await fetch(`${server.urls.admin}/v1/edges`)).json()).edges[0].entries > 0)
          await pause(50);
        // What was cleared is looked after for a while: the next sample begins without it.
        await pause(RELEASE_MS);
      }),
  };
}

const WITHIN_MS = 5000;
const AT_ONCE = 200;

const RELEASE_MS = 2000;

/** The data as another process has it. */
async function withData(settings, log, act) {
  const { openCounts } = await room("./counts.js");
  const { openRedisData } = await room("./data/redis-data.js");
  const counts = await openCounts(settings.store, log, WITHIN_MS);
  const { client, prefix, openDirectory } = counts.redis;
  const data = await openRedisData({ client, prefix, directory: openDirectory(), onError() {} });
  await act(data);
  await data.close();
  await counts.close();
}

/** A front alone, told by its adapter, that answers by itself. It has a core of its own. */
async function rules(kind) {
  const front = await fronts[kind]();
  for (const pid of front.pids) pinMeasured(pid);
  const { openEdge } = await room("./edges/open-edge.js");
  const edge = await openEdge("front", front.edge);
  const { maxBatch } = edge.abilities;
  return {
    ...front,
    async apply({ remove = [], put = [] }) {
      const signal = AbortSignal.timeout(120_000);
      for (let i = 0; i < remove.length; i += maxBatch)
        await edge.apply({ remove: remove.slice(i, i + maxBatch), put: [] }, signal);
      for (let i = 0; i < put.length; i += maxBatch)
        await edge.apply({ remove: [], put: put.slice(i, i + maxBatch) }, signal);
    },
  };
}

export const edgeFaces = {
  "edge-haproxy": (context) => serve("haproxy", context),
  "edge-varnish": (context) => serve("varnish", context),
  "rules-haproxy": () => rules("haproxy"),
  "rules-varnish": () => rules("varnish"),
};
