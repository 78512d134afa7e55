export { setupReplay as setup } from "../lib/replayed.mjs";

export const id = "replay-memory";
export const title = "memory for a longer log, 5 rules";
export const http = "replay";
export const rounds = 1;
const ours = "tidegate.by-fingerprint";
export const contestants = [ours];
export const metrics = ["rate", "megabytes"];
export const params = [
  { name: "1 GB", lines: 5_000_000 },
  { name: "4 GB", lines: 20_000_000 },
];

export function rows({ row }) {
  const base = { metric: "megabytes", unit: "MB", ours };
  return [
    row({ ...base, what: "peak RSS", peers: [], at: "4 GB", bar: { below: 500 } }),
    row({
      ...base,
      what: "peak RSS, four times the log",
      peers: [ours],
      at: "4 GB",
      peersAt: "1 GB",
      bar: { atMost: 1.1 },
    }),
  ];
}
