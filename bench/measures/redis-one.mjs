export { setupLoad as setup } from "../lib/redis-load.mjs";

export const id = "redis-one";
export const title = "Redis, one limit";
export const redis = true;
export const contestants = [
  "tidegate.one",
  "tidegate.decide",
  "bare.incr",
  "rlf.one",
  "rlf.one-sha",
  "rlr.one",
  "fst.one",
];
export const params = [1, 64, 512].map((inFlight) => ({ name: String(inFlight), inFlight }));
export const metrics = ["rate", "p50Ms", "p99Ms", "p50ToIncr", "redisCpuMicros"];
const PEERS = ["rlf.one", "rlf.one-sha", "rlr.one", "fst.one"];

export function rows({ row }) {
  const ours = "tidegate.one";
  const rate = { metric: "rate", ours, peers: PEERS };
  const cpu = { metric: "redisCpuMicros", unit: "µs", ours, peers: PEERS };
  return [
    row({ ...rate, what: "1 in flight: p50", metric: "p50Ms", unit: "ms", at: "1" }),
    row({
      ...rate,
      what: "1 in flight: p50 as a multiple of INCR's",
      metric: "p50ToIncr",
      unit: "×",
      at: "1",
      bar: { atMost: 1.1 },
    }),
    row({ ...rate, what: "64 in flight: decisions/s", at: "64", bar: { atLeast: 1.6 } }),
    row({ ...cpu, what: "64 in flight: Redis CPU", at: "64", bar: { atMost: 0.6 } }),
    row({ ...rate, what: "512 in flight: decisions/s", at: "512", bar: { atLeast: 2.5 } }),
    row({ ...rate, what: "512 in flight: to bare INCR", at: "512", peers: ["bare.incr"], bar: { over: 1 } }),
    row({ ...cpu, what: "512 in flight: Redis CPU", at: "512", bar: { atMost: 0.5 } }),
  ];
}
