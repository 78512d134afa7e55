import { growth } from "./memory-bytes.mjs";

export const id = "memory-10m";
export const title = "10M keys in memory";
export const fresh = true;
export const rounds = 3;
export const metrics = ["megabytes"];
export const contestants = ["tidegate.decide"];
const KEYS = 10_000_000;

export async function setup({ make }) {
  return { sample: async () => ({ megabytes: (await growth(make, KEYS)) / 1e6 }) };
}

export function rows({ row }) {
  return [
    row({
      what: "RSS growth",
      metric: "megabytes",
      unit: "MB",
      ours: "tidegate.decide",
      peers: [],
      bar: { below: 1000 },
    }),
  ];
}
