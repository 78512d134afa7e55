import { performance } from "node:perf_hooks";
import { keyOf } from "../lib/keys.mjs";
import { settle, sink } from "../lib/load.mjs";

export const id = "memory-pause";
export const title = "longest pause while growing to 1M keys";
export const fresh = true;
export const metrics = ["maxMs", "p9999Ms"];
export const contestants = [
  "tidegate.decide",
  "bare.map",
  "rlf.consume",
  "erl.consume",
  "fst.consume",
  "nest.consume",
  "lim.consume",
];
const KEYS = 1_000_000;

export async function setup({ make }) {
  return {
    async sample() {
      const warm = await make({ keys: 1000 });
      for (let i = 0; i < 20_000; i++) sink.answer = await warm.call(keyOf(i % 1000));
      await settle();
      const contestant = await make({ keys: KEYS });
      const times = new Float64Array(KEYS);
      for (let i = 0; i < KEYS; i++) {
        const key = keyOf(i);
        const before = performance.now();
        sink.answer = contestant.sync ? contestant.call(key) : await contestant.call(key);
        times[i] = performance.now() - before;
      }
      times.sort();
      // Garbage collection that falls into a call is part of its time.
      return { maxMs: times[KEYS - 1], p9999Ms: times[Math.floor(KEYS * 0.9999)] };
    },
  };
}

export function rows({ row }) {
  const ours = "tidegate.decide";
  return [
    row({
      what: "longest call",
      metric: "maxMs",
      unit: "ms",
      ours,
      peers: ".consume",
      bar: { below: 10 },
    }),
    row({ what: "p99.99 of calls", metric: "p9999Ms", unit: "ms", ours, peers: ".consume" }),
  ];
}
