import { installedEdges } from "../lib/edge-front.mjs";
import { edgeKeys, offendersOf } from "../lib/edge-keys.mjs";
import { waitFor } from "../lib/edge-wait.mjs";

export const id = "edge-restore";
export const title = "10,000 entries lost by the edge";
export const http = "proxy";
export const { contestants, notes } = installedEdges("edge");
export const rounds = 3;
export const metrics = ["detectMs", "restoreMs"];
const ENTRIES = 10_000;
/** No upstream is asked for anything here. */
const NOWHERE = 9;

export async function setup({ make }) {
  const edge = await make({ upstream: NOWHERE });
  const keys = edgeKeys(ENTRIES);
  await waitFor("the edge is read", async () => (await edge.status())?.readAt);
  const others = await edge.count();
  await edge.hold(offendersOf(keys));
  const isWhole = async () => (await edge.count()) >= others + ENTRIES;
  const terms = { everyMs: edge.countEveryMs };
  const verify = async () => {
    const { length } = await edge.standing(keys);
    if (length !== ENTRIES) throw new Error(`${length} entries stand there, not ${ENTRIES}`);
  };
  await waitFor("the entries stand there", isWhole, terms);
  await verify();
  return {
    /** Detected is when the server had read the edge, before anything was there again. */
    async sample() {
      const wipedAt = Date.now();
      await edge.wipe();
      const detectedAt = await waitFor(
        "the loss is detected",
        async () => {
          const { readAt } = await edge.status();
          return readAt > wipedAt && (await edge.count()) > others && readAt;
        },
        terms,
      );
      await waitFor("the entries are restored", isWhole, terms);
      const wholeAt = Date.now();
      await verify();
      return { detectMs: detectedAt - wipedAt, restoreMs: wholeAt - detectedAt };
    },
  };
}

export function rows({ row }) {
  const bars = { haproxy: 1000, varnish: 5000 };
  return contestants.flatMap((ours) => {
    const kind = ours.split("-").at(-1);
    const base = { unit: "ms", ours, peers: [] };
    return [
      row({ ...base, what: `${kind}, until detected`, metric: "detectMs", bar: { below: 10_000 } }),
      row({
        ...base,
        what: `${kind}, from then until restored`,
        metric: "restoreMs",
        bar: { below: bars[kind] },
      }),
    ];
  });
}
