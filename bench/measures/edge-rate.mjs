import { installedEdges } from "../lib/edge-front.mjs";
import { edgeEntries, edgeKeys } from "../lib/edge-keys.mjs";
import { cpuMicrosOf, startLoad, verifyAnswer, warmUpOn } from "../lib/wire-load.mjs";
import { answers } from "../lib/wire-requests.mjs";

export const id = "edge-rate";
export const title = "requests through the edge of who is not held, one core";
export const http = "proxy";
export const { contestants, notes } = installedEdges("rules");
export const metrics = ["rate", "cpuMicros", "p50Ms", "p99Ms"];
const NONE = "no entries";
const FULL = "10,000 entries";
export const params = [
  { name: NONE, count: 0 },
  { name: FULL, count: 10_000 },
];
const REQUEST = "get";

export async function setup({ make, sampleMs }) {
  const edge = await make();
  const keys = edgeKeys(10_000);
  await verifyAnswer(edge.port, REQUEST, { expected: answers[REQUEST] });
  const load = await startLoad(edge.port);
  await warmUpOn(load, REQUEST, sampleMs);
  let standing = 0;
  return {
    async sample({ count }) {
      if (count > 0) await edge.apply({ put: edgeEntries(keys) });
      else if (standing > 0) await edge.apply({ remove: keys });
      standing = (await edge.standing(keys)).length;
      if (standing !== count) throw new Error(`${standing} entries stand there, not ${count}`);
      await load.flood(REQUEST, 200);
      const before = cpuMicrosOf(edge);
      const result = await load.flood(REQUEST, sampleMs * 2);
      const cpuMicros = (cpuMicrosOf(edge) - before) / result.requests;
      return Number.isNaN(cpuMicros) ? result : { ...result, cpuMicros };
    },
  };
}

export function rows({ row }) {
  return contestants.flatMap((ours) => {
    const kind = ours.split("-").at(-1);
    const base = { ours, peers: [ours], at: FULL, peersAt: NONE };
    return [
      row({ ...base, what: `${kind}, requests/s with ${FULL}`, metric: "rate", bar: { atLeast: 0.9 } }),
      row({ ...base, what: `${kind}, CPU per request with ${FULL}`, metric: "cpuMicros", unit: "µs" }),
    ];
  });
}
