export { floodTurns as turns, setupFlood as setup } from "../lib/http-load.mjs";

export const id = "http-peers-redis";
export const title = "in their frameworks, Redis, our three rules to their one";
export const http = true;
export const renewed = true;
export const redis = true;
// @fastify/rate-limit requires ioredis. On node-redis it runs by a shim of this bench, which nobody has: told, not judged.
export const contestants = [
  "tidegate.express-redis",
  "erl.express-redis",
  "tidegate.fastify-ioredis",
  "fst.fastify-ioredis",
  "tidegate.fastify-redis",
  "fst.fastify-redis",
];
export const metrics = ["rate", "cpuMicros", "redisCpuMicros", "p50Ms", "p99Ms"];

export function rows({ row }) {
  const ahead = { rate: { over: 1 }, cpuMicros: { under: 1 } };
  return [
    ["Express", "tidegate.express-redis", "erl.express-redis", ahead],
    ["Fastify on ioredis", "tidegate.fastify-ioredis", "fst.fastify-ioredis", ahead],
    ["Fastify on node-redis by a shim", "tidegate.fastify-redis", "fst.fastify-redis", {}],
  ].flatMap(([app, ours, peer, bars]) => [
    row({ what: `${app}, requests/s`, metric: "rate", ours, peers: [peer], bar: bars.rate }),
    row({
      what: `${app}, CPU per request`,
      metric: "cpuMicros",
      unit: "µs",
      ours,
      peers: [peer],
      bar: bars.cpuMicros,
    }),
  ]);
}
