import { makeKeys, randomWalk } from "../lib/keys.mjs";
import { oneByOne, sink } from "../lib/load.mjs";

export const id = "memory-random";
export const title = "memory, 1M keys at random";
export const metrics = ["rate"];
export const contestants = [
  "tidegate.consume",
  "tidegate.decide",
  "bare.map",
  "rlf.consume",
  "erl.consume",
  "fst.consume",
  "nest.consume",
  "lim.consume",
  "fst.sync",
  "lim.sync",
];
const KEYS = 1_000_000;

export async function setup({ make, sampleMs }) {
  const keys = makeKeys(KEYS);
  const walk = randomWalk(KEYS, 1 << 22);
  const contestant = await make({ keys: KEYS });
  for (const key of keys) sink.answer = contestant.sync ? contestant.call(key) : await contestant.call(key);
  // All keys stay in place: nobody is emptied here.
  delete contestant.reset;
  await oneByOne(contestant, keys, walk, sampleMs);
  return { sample: async () => ({ rate: await oneByOne(contestant, keys, walk, sampleMs) }) };
}

export function rows({ row }) {
  return [
    row({
      what: "consume",
      metric: "rate",
      ours: "tidegate.consume",
      peers: ".consume",
      bar: { atLeast: 1.6 },
    }),
    row({
      what: "decide",
      metric: "rate",
      ours: "tidegate.decide",
      peers: ".consume",
      bar: { atLeast: 2.2 },
    }),
    row({
      what: "decide to peers' synchronous calls",
      metric: "rate",
      ours: "tidegate.decide",
      peers: ".sync",
    }),
    row({ what: "decide to a bare Map", metric: "rate", ours: "tidegate.decide", peers: ["bare.map"] }),
  ];
}
