import { median } from "./stats.mjs";
import { undisturbed } from "./undisturbed.mjs";
import { setupProxy, verifyKept, warmUpOn } from "./wire-load.mjs";

const REQUEST = "get";
const LEAD_IN_MS = 50;
/** Of a sample's usual time; a window of a twin's is longer. */
const SHARE_OF_WINDOW = 0.125;
const SHARE_OF_TWINS_WINDOW = 0.25;
/** At leisure a proxy goes other ways than in a flood, which V8 compiles anew, on the same core: so long before anything counts. */
const SHARES_UNTIL_USED_TO_IT = 6;
/** While others are measured V8 makes a new space of 16 MB one of 1 MB, and takes seconds of load to make it large again. */
const SHARES_UNTIL_STEADY = 3;
/** What a twin does about a request it may do a second later: by then the other would be measured for it. */
const SHARES_UNTIL_ITSELF = 1.25;
const WINDOWS_IN_A_ROW = 12;

/** How long requests at this rate took while nobody else had the cores. */
function windowOf(load, ms, rate) {
  return undisturbed(async () => {
    await load.pace(REQUEST, LEAD_IN_MS, rate, true);
    return load.pace(REQUEST, ms, rate, true);
  });
}

/** All processes begin anew after each three. */
export const turns = 3;
export const renewed = true;

/** GETs at half of what the slowest contestant can do, for every one of them. */
export async function setupPaced({ make, contestant, sampleMs }) {
  const { upstream, proxy, load } = await setupProxy({ make, contestant, names: [REQUEST] });
  await warmUpOn(load, REQUEST, sampleMs);
  await proxy.afterWarmUp?.();
  const { rate } = await load.flood(REQUEST, sampleMs * 2);
  await verifyKept(upstream);
  let isUsedToIt = false;
  return {
    facts: { peak: rate },
    async sample({ rate }) {
      const shares = isUsedToIt ? SHARES_UNTIL_STEADY : SHARES_UNTIL_USED_TO_IT;
      isUsedToIt = true;
      await load.pace(REQUEST, sampleMs * shares, rate, true);
      const windows = [];
      for (let i = 0; i < WINDOWS_IN_A_ROW; i++)
        windows.push(await windowOf(load, sampleMs * SHARE_OF_WINDOW, rate));
      const all = (metric) => windows.map((each) => each[metric]);
      return {
        p50sMs: all("p50Ms"),
        p99sMs: all("p99Ms"),
        p50Ms: median(all("p50Ms")),
        p99Ms: median(all("p99Ms")),
        rate: median(all("rate")),
        stolenMs: median(all("stolenMs")),
      };
    },
  };
}

/**
 * The same beside a twin in the same process, which lacks what is measured: processes of one build differ more than the two
 * do. Each sample is of both, in an order that favours neither.
 */
export async function setupBeside({ make, contestant, sampleMs }) {
  const { upstream, proxy, load } = await setupProxy({ make, contestant, names: [REQUEST] });
  const twinLoad = await load.on(proxy.twin.port);
  for (let i = 0; i < 2; i++)
    for (const each of [load, twinLoad]) await warmUpOn(each, REQUEST, sampleMs / 2);
  await proxy.afterWarmUp?.();
  const { rate } = await load.flood(REQUEST, sampleMs * 2);
  await verifyKept(upstream);
  let samples = 0;
  return {
    facts: { peak: rate },
    async sample({ rate }) {
      const taken = new Map([load, twinLoad].map((each) => [each, []]));
      const [first, second] = samples++ % 2 === 0 ? [load, twinLoad] : [twinLoad, load];
      if (samples === 1)
        for (const each of [first, second])
          await each.pace(REQUEST, (sampleMs * SHARES_UNTIL_USED_TO_IT) / 2, rate, true);
      for (const each of [first, second, second, first]) {
        await each.pace(REQUEST, sampleMs * SHARES_UNTIL_ITSELF, rate, true);
        for (let i = 0; i < WINDOWS_IN_A_ROW; i++)
          taken.get(each).push(await windowOf(each, sampleMs * SHARE_OF_TWINS_WINDOW, rate));
      }
      const windows = (each, metric) => taken.get(each).map((result) => result[metric]);
      const of = (each, metric) => median(windows(each, metric));
      return {
        p99sMs: windows(load, "p99Ms"),
        offP99sMs: windows(twinLoad, "p99Ms"),
        p50Ms: of(load, "p50Ms"),
        p99Ms: of(load, "p99Ms"),
        offP50Ms: of(twinLoad, "p50Ms"),
        offP99Ms: of(twinLoad, "p99Ms"),
        rate: of(load, "rate"),
      };
    },
  };
}

export const halfOfSlowest = (facts) => ({
  rate: Math.round(Math.min(...Object.values(facts).map(({ peak }) => peak)) / 2),
});
