// In the order of the table. To add a measure: one file beside this one, one name here.
const NAMES = [
  "memory-hot",
  "memory-random",
  "memory-bytes",
  "memory-10m",
  "memory-pause",
  "redis-one",
  "redis-three-limits",
  "redis-three-rules",
  "redis-bytes",
  "redis-log",
  "gate",
  "http-cpu",
  "http-peers",
  "http-peers-redis",
  "http-latency",
  "proxy",
  "proxy-latency",
  "proxy-memory",
  "decide",
  "track",
  "edge-crossing",
  "edge-restore",
  "edge-rate",
];

export const measures = await Promise.all(NAMES.map((name) => import(`./${name}.mjs`)));
