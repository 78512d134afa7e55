import { halfOfSlowest } from "../lib/wire-pace.mjs";
import { PEERS } from "./proxy.mjs";

export { renewed, setupPaced as setup, turns } from "../lib/wire-pace.mjs";

export const id = "proxy-latency";
export const title = "latency the proxy adds, all at half of the slowest one's peak";
export const http = "proxy";
export const contestants = ["tidegate.proxy", ...PEERS, "bare.direct"];
export const metrics = ["p50Ms", "p99Ms", "rate", "stolenMs"];
export const agree = halfOfSlowest;

// The quiet quarter of the windows is told beside it: there the machine's own standing still, longer than what is measured, is least.
export function rows({ addedBeside, addedBesideInQuiet }) {
  const base = { unit: "ms", ours: "tidegate.proxy", peers: PEERS, without: "bare.direct" };
  return [
    addedBeside({ ...base, what: "p99", metric: "p99Ms", bar: { under: 1 } }),
    addedBesideInQuiet({ ...base, what: "p99 in the quiet quarter", metric: "p99sMs" }),
    addedBesideInQuiet({ ...base, what: "p50 in the quiet quarter", metric: "p50sMs" }),
  ];
}
