import { keyOf } from "../lib/keys.mjs";
import { settle, sink } from "../lib/load.mjs";

export const id = "memory-bytes";
export const title = "bytes per tracked key at 1M keys";
export const fresh = true;
export const metrics = ["bytes"];
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

/** Growth of the resident set by `count` keys, after collection, in a process that did nothing else. */
export async function growth(make, count) {
  const warm = await make({ keys: 1000 });
  for (let i = 0; i < 20_000; i++) sink.answer = await warm.call(keyOf(i % 1000));
  const contestant = await make({ keys: count });
  sink.answer = await contestant.call(keyOf(0));
  await settle();
  const before = process.memoryUsage.rss();
  for (let i = 0; i < count; i++) {
    if (contestant.sync) sink.answer = contestant.call(keyOf(i));
    else sink.answer = await contestant.call(keyOf(i));
  }
  sink.answer = undefined;
  await settle();
  const after = process.memoryUsage.rss();
  // Still there, and in use.
  await contestant.call(keyOf(count - 1));
  return after - before;
}

export async function setup({ make }) {
  return { sample: async () => ({ bytes: (await growth(make, KEYS)) / KEYS }) };
}

export function rows({ row }) {
  return [
    row({
      what: "RSS growth",
      metric: "bytes",
      unit: "B",
      ours: "tidegate.decide",
      peers: [".consume"],
      bar: { atMost: 0.25 },
    }),
  ];
}
