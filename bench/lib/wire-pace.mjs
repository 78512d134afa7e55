import { setupProxy, verifyKept, warmUpOn } from "./wire-load.mjs";

const REQUEST = "get";
const LEAD_IN_MS = 50;
const SHARE_OF_SAMPLE = 0.25;

/**
 * Samples are short and many, so that what disturbs one pair leaves the others alone; twice as many as others take, since what
 * tells contestants apart is a tenth of what a noisy minute adds. All processes begin anew after each sixteen.
 */
export const turns = 16;
export const renewed = true;

/** GETs at half of what the slowest contestant can do, for every one of them. */
export async function setupPaced({ make, contestant, sampleMs }) {
  const { upstream, proxy, load } = await setupProxy({ make, contestant, names: [REQUEST] });
  await warmUpOn(load, REQUEST, sampleMs);
  await proxy.afterWarmUp?.();
  const { rate } = await load.flood(REQUEST, sampleMs * 2);
  await verifyKept(upstream);
  return {
    facts: { peak: rate },
    async sample({ rate }) {
      await load.pace(REQUEST, LEAD_IN_MS, rate);
      return load.pace(REQUEST, sampleMs * SHARE_OF_SAMPLE, rate);
    },
  };
}

export const halfOfSlowest = (facts) => ({
  rate: Math.round(Math.min(...Object.values(facts).map(({ peak }) => peak)) / 2),
});
