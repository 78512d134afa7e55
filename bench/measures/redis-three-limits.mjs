export { setupLoad as setup } from "../lib/redis-load.mjs";

export const id = "redis-three-limits";
export const title = "Redis, three limits of one rule";
export const redis = true;
export const contestants = [
  "tidegate.three",
  "tidegate.one",
  "rlf.three",
  "rlf.three-sha",
  "rlr.three",
  "fst.three",
];
export const params = [64, 512].map((inFlight) => ({ name: String(inFlight), inFlight }));
export const metrics = ["rate", "p50Ms", "p99Ms", "redisCpuMicros"];

export function rows({ row }) {
  return ["64", "512"].flatMap((at) => [
    row({
      what: `${at} in flight: to its own one limit`,
      metric: "rate",
      at,
      ours: "tidegate.three",
      peers: ["tidegate.one"],
      bar: { atLeast: 0.85 },
    }),
    row({
      what: `${at} in flight: to the union`,
      metric: "rate",
      at,
      ours: "tidegate.three",
      peers: ["rlf.three", "rlf.three-sha"],
      bar: { atLeast: 4 },
    }),
  ]);
}
