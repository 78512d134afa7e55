import { keyOf } from "../lib/keys.mjs";
import { each } from "../lib/load.mjs";
import { cpuSeconds } from "../lib/redis-load.mjs";

export const id = "redis-log";
export const title = "Redis, sorted-set log";
export const redis = true;
export const contestants = ["tidegate.log"];
export const params = [
  { name: "10", entries: 10 },
  { name: "10000", entries: 10_000 },
];
export const metrics = ["rate", "redisCpuMicros"];

// Few decisions a sample, so that the logs stay about as long as they are meant to be.
const KEYS = { 10: 20_000, 10000: 20 };
const DECISIONS = 4000;

export async function setup({ make, command }) {
  const contestant = await make();
  const keyAt = (entries) => (i) => `${entries}-${keyOf(i % KEYS[entries])}`;
  for (const { entries } of params)
    await each(contestant.call, keyAt(entries), 0, KEYS[entries] * entries, 256);
  const at = { 10: 0, 10000: 0 };
  return {
    async sample({ entries }) {
      const cpu = await cpuSeconds(command);
      const started = performance.now();
      await each(contestant.call, keyAt(entries), at[entries], at[entries] + DECISIONS, 64);
      const elapsed = performance.now() - started;
      at[entries] += DECISIONS;
      const redisCpuMicros = (((await cpuSeconds(command)) - cpu) * 1e6) / DECISIONS;
      return { rate: (DECISIONS * 1000) / elapsed, redisCpuMicros };
    },
  };
}

export function rows({ row }) {
  const log = "tidegate.log";
  return [
    row({
      what: "10,000 entries to 10",
      metric: "rate",
      ours: log,
      at: "10000",
      peers: [log],
      peersAt: "10",
      bar: { atLeast: 0.5 },
    }),
  ];
}
