export { setupLoad as setup } from "../lib/redis-load.mjs";

export const id = "redis-three-rules";
export const title = "Redis, three rules on three keys";
export const redis = true;
export const contestants = ["tidegate.three-rules", "tidegate.one"];
export const params = [64, 512].map((inFlight) => ({ name: String(inFlight), inFlight }));
export const metrics = ["rate", "p50Ms", "p99Ms", "redisCpuMicros"];

export function rows({ row }) {
  return ["64", "512"].map((at) =>
    row({
      what: `${at} in flight: to its own one limit`,
      metric: "rate",
      at,
      ours: "tidegate.three-rules",
      peers: ["tidegate.one"],
      bar: { atLeast: 0.5 },
    }),
  );
}
