import { halfOfSlowest } from "../lib/wire-pace.mjs";
import { PEERS } from "./proxy.mjs";

export { renewed, setupPaced as setup, turns } from "../lib/wire-pace.mjs";

export const id = "proxy-latency";
export const title = "latency the proxy adds, all at half of the slowest one's peak";
export const http = "proxy";
export const contestants = ["tidegate.proxy", ...PEERS, "bare.direct"];
export const metrics = ["p50Ms", "p99Ms", "rate", "stolenMs"];
export const agree = halfOfSlowest;

// Where the machine stands still now and then for longer than what is measured, a median tells of its moods: the bar is for the
// quiet quarter of the windows.
export function rows({ addedBeside, addedBesideInQuiet }) {
  const base = { unit: "ms", ours: "tidegate.proxy", peers: PEERS, without: "bare.direct" };
  return [
    addedBesideInQuiet({ ...base, what: "p99 in the quiet quarter", metric: "p99sMs", bar: { under: 1 } }),
    addedBeside({ ...base, what: "p99 sample by sample", metric: "p99Ms" }),
    addedBesideInQuiet({ ...base, what: "p50 in the quiet quarter", metric: "p50sMs" }),
  ];
}
