import { pinOthers } from "../../lib/pinning.mjs";
import { startRedis } from "../../lib/redis-server.mjs";

/** A room of the server that is no entry point of its package. */
export const room = (path) => import(new URL(path, import.meta.resolve("tidegate-server")));

/**
 * The server's front with the policy's counts in memory and the tracked ones in a Redis of its own, so that only the
 * tracking differs. The settings of `tidegate.yaml` know one store for both.
 */
async function openFront(file, redisPort) {
  const { loadConfig, openLog } = await import("tidegate-server");
  const { openFront } = await room("./front.js");
  const { openCounts } = await room("./counts.js");
  const { parsePolicy } = await room("./config/parse-policy.js");
  const { memoryOffenders } = await room("./data/embedded/memory-offenders.js");
  const { Closing } = await room("./closing.js");
  const { createGate } = await import("tidegate");
  const { createRequire } = await import("node:module");
  const { Registry } = createRequire(import.meta.resolve("tidegate-server"))("prom-client");
  const overrides = redisPort === undefined ? {} : { redis: `redis://127.0.0.1:${redisPort}` };
  const { settings, policyText } = loadConfig({ file, overrides });
  const log = openLog({ level: "info" }, { write() {} });
  const counts = await openCounts(settings.store, log);
  const gate = createGate(parsePolicy(policyText));
  await gate.ready;
  const registry = new Registry();
  const front = await openFront({
    settings,
    core: { gate, counts, data: { offenders: memoryOffenders() } },
    log,
    registry,
    closing: new Closing(log),
  });
  const metrics = () => registry.metrics();
  return { port: Number(new URL(front.urls.proxy).port), metrics };
}

const TRACK = 'control: { track: { standard: "1000000000 per hour", broad: "1000000000 per hour" } }';

/** Beside a twin that does not track, in the same process. */
async function tracking(configure, upstream, whenOpen) {
  const redis = await startRedis();
  pinOthers(redis.pid);
  const twin = await openFront(configure({ upstream }));
  const front = await openFront(configure({ upstream, more: TRACK }), redis.port);
  return {
    ...front,
    twin,
    async afterWarmUp() {
      if (!/^tidegate_tracked_total{outcome="counted"} [1-9]/m.test(await front.metrics()))
        throw new Error("nobody was tracked");
      whenOpen(redis);
    },
  };
}

/** Faces by where the tracker's store is once it has been used. */
export const trackingFaces = (configure) => ({
  "track-off": async ({ upstream }) => ({
    twin: await openFront(configure({ upstream })),
    ...(await openFront(configure({ upstream }))),
  }),
  "track-up": ({ upstream }) => tracking(configure, upstream, () => {}),
  "track-down": ({ upstream }) => tracking(configure, upstream, ({ pid }) => process.kill(pid, "SIGKILL")),
  "track-frozen": ({ upstream }) => tracking(configure, upstream, ({ pid }) => process.kill(pid, "SIGSTOP")),
});
