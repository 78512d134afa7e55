export { floodTurns as turns, setupFlood as setup } from "../lib/http-load.mjs";

export const id = "http-peers";
export const title = "in their frameworks, memory, headers on";
export const http = true;
export const renewed = true;
export const contestants = [
  "tidegate.express",
  "erl.express",
  "bare.express",
  "tidegate.fastify",
  "fst.fastify",
  "bare.fastify",
];
export const metrics = ["rate", "cpuMicros", "p50Ms", "p99Ms"];

export function rows({ row }) {
  return [
    ["Express", "tidegate.express", "erl.express"],
    ["Fastify", "tidegate.fastify", "fst.fastify"],
  ].flatMap(([app, ours, peer]) => [
    row({ what: `${app}, requests/s`, metric: "rate", ours, peers: [peer], bar: { over: 1 } }),
    row({
      what: `${app}, CPU per request`,
      metric: "cpuMicros",
      unit: "µs",
      ours,
      peers: [peer],
      bar: { under: 1 },
    }),
  ]);
}
