import { startChild } from "../lib/child.mjs";
import { installedEdges } from "../lib/edge-front.mjs";
import { startUpstream } from "../lib/wire-load.mjs";

export const id = "edge-crossing";
export const title = "from the request that crosses until the edge refuses";
export const http = "proxy";
export const { contestants, notes } = installedEdges("edge");
export const metrics = ["p50Ms", "p99Ms", "maxMs", "leaked"];
const ONE = "one at a time";
const MANY = "300 at once";
export const params = [
  { name: ONE, act: "oneByOne", count: 200 },
  { name: MANY, act: "atOnce", count: 300 },
];
const WARM_UP = { oneByOne: 100, atOnce: 100 };

/**
 * Each client crosses once, and is another one each time. Each sample begins with nobody held. Measured is all of it: Tidegate, its Redis
 * and the front have all cores, clients and app all but the first.
 */
export async function setup({ make, quick }) {
  const upstream = await startUpstream();
  const { proxiedPort: port, release } = await make({ upstream: upstream.port });
  const ask = startChild("./edge-clients.mjs", "the clients' process");
  let from = 0;
  const clients = (count) => {
    from += count;
    return { port, from: from - count, count };
  };
  const passes = await ask({ do: "patience", ...clients(5) });
  for (const act of Object.keys(WARM_UP))
    await ask({ do: act, ...clients(quick ? 20 : WARM_UP[act]), passes });
  return {
    async sample({ act, count }) {
      await release();
      return ask({ do: act, ...clients(quick && act === "oneByOne" ? 50 : count), passes });
    },
  };
}

export function rows({ row }) {
  const bars = { [ONE]: 20, [MANY]: 200 };
  return contestants.flatMap((ours) =>
    Object.entries(bars).map(([at, below]) =>
      row({
        what: `${ours.split("-").at(-1)}, ${at}, p99`,
        metric: "p99Ms",
        unit: "ms",
        ours,
        peers: [],
        at,
        bar: { below },
      }),
    ),
  );
}
