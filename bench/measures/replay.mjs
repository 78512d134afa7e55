export { setupReplay as setup } from "../lib/replayed.mjs";

export const id = "replay";
export const title = "replay of a combined log, 5 rules, one core";
export const http = "replay";
export const rounds = 3;
const BY_ADDRESS = "tidegate.by-address";
const BY_FINGERPRINT = "tidegate.by-fingerprint";
export const contestants = [BY_ADDRESS, BY_FINGERPRINT, "goaccess.one"];
export const metrics = ["rate", "megabytes"];
export const params = [{ name: "", lines: 2_000_000 }];

export function rows({ row }) {
  const peers = ["goaccess.one"];
  const base = { metric: "rate", ours: BY_ADDRESS };
  return [
    row({ ...base, what: "lines, rules by address", peers: [], bar: { from: 250_000 } }),
    row({ ...base, what: "lines, rules by address", peers, bar: { over: 1 } }),
    row({ ...base, what: "lines, one by fingerprint", ours: BY_FINGERPRINT, peers, bar: { over: 1 } }),
  ];
}
