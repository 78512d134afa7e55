import { makeKeys, randomWalk } from "../lib/keys.mjs";
import { freshKeys, oneByOne } from "../lib/load.mjs";

export const id = "memory-hot";
export const title = "memory, 10k hot keys";
export const contestants = [
  "tidegate.consume",
  "tidegate.decide",
  "tidegate.decide-clock",
  "bare.map",
  "rlf.consume",
  "erl.consume",
  "fst.consume",
  "nest.consume",
  "lim.consume",
  "fst.sync",
  "lim.sync",
];
// The same 10,000 string objects again and again: V8 keeps a string's hash in the string, so a Map never has
// to hash. And strings new on every call, as a request brings them; the time to make them is taken off.
export const params = [{ name: "same strings" }, { name: "new strings" }];
export const metrics = ["rate", "nanos"];
const KEYS = 10_000;

export async function setup({ make, sampleMs }) {
  const keys = makeKeys(KEYS);
  const walk = randomWalk(KEYS, 1 << 20);
  const contestant = await make({ keys: KEYS });
  await oneByOne(contestant, keys, walk, sampleMs);
  await freshKeys(contestant, keys, walk, sampleMs);
  await oneByOne(contestant, keys, walk, sampleMs);
  return {
    async sample({ name }) {
      const run = name === "same strings" ? oneByOne : freshKeys;
      const rate = await run(contestant, keys, walk, sampleMs);
      return { rate, nanos: 1e9 / rate };
    },
  };
}

export function rows({ row }) {
  const clocked = {
    metric: "rate",
    ours: "tidegate.decide-clock",
    peers: ["bare.map"],
    bar: { atLeast: 1 / 1.5 },
  };
  const system = { ...clocked, ours: "tidegate.decide" };
  return ["same strings", "new strings"].flatMap((at) => [
    row({
      what: `consume, ${at}`,
      at,
      metric: "rate",
      ours: "tidegate.consume",
      peers: ".consume",
      bar: { over: 1 },
    }),
    row({ ...system, what: `decide, ${at}, system clock, to a bare Map`, at }),
    row({ ...clocked, what: `decide, ${at}, clock handed in, to a bare Map`, at }),
    row({
      what: `decide, ${at}, to peers' synchronous calls`,
      at,
      metric: "rate",
      ours: "tidegate.decide",
      peers: ".sync",
    }),
  ]);
}
