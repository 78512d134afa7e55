export { floodTurns as turns, setupFlood as setup } from "../lib/http-load.mjs";

export const id = "http-peers-redis";
export const title = "in their frameworks, Redis, our three rules to their one";
export const http = true;
export const renewed = true;
export const redis = true;
export const contestants = [
  "tidegate.express-redis",
  "erl.express-redis",
  "tidegate.fastify-redis",
  "fst.fastify-redis",
  "fst.fastify-ioredis",
];
export const metrics = ["rate", "cpuMicros", "redisCpuMicros", "p50Ms", "p99Ms"];

export function rows({ row }) {
  return [
    ["Express", "tidegate.express-redis", ["erl.express-redis"]],
    ["Fastify", "tidegate.fastify-redis", ["fst.fastify-redis", "fst.fastify-ioredis"]],
  ].flatMap(([app, ours, peers]) => [
    row({ what: `${app}, requests/s`, metric: "rate", ours, peers, bar: { over: 1 } }),
    row({
      what: `${app}, CPU per request`,
      metric: "cpuMicros",
      unit: "µs",
      ours,
      peers,
      bar: { under: 1 },
    }),
  ]);
}
