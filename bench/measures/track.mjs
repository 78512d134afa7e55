import { halfOfSlowest, setupBeside } from "../lib/wire-pace.mjs";

export { setupBeside as setup };

export const id = "track";
export const title = "tracking clients, at half of the proxy's peak";
export const http = "proxy";
const STATES = { up: "the store up", down: "the store killed", frozen: "the store frozen" };
const faceOf = (state) => `tidegate.track-${state}`;
/** Beside its like: what it seems to add is what this machine makes up. */
const CONTROL = "off";
export const contestants = [CONTROL, ...Object.keys(STATES)].map(faceOf);
export const metrics = ["p50Ms", "offP50Ms", "p99Ms", "offP99Ms", "rate"];
export const turns = 2;
export const renewed = true;
export const agree = halfOfSlowest;

// Where the machine stands still now and then for longer than what is measured, the median of differences is that of its moods:
// the bar is for the quiet quarter of the windows, and the control says how much of either is made up.
export function rows({ addedTo, addedInQuiet }) {
  const all = { ...STATES, [CONTROL]: "no tracking in either (noise)" };
  const inQuiet = ([state, what]) =>
    addedInQuiet({
      what: `p99 added in the quiet quarter, ${what}`,
      metric: "p99sMs",
      without: "offP99sMs",
      unit: "ms",
      ours: faceOf(state),
      bar: state === CONTROL ? undefined : { below: 0.2 },
    });
  const pairByPair = ([state, what]) =>
    addedTo({
      what: `p99 added pair by pair, ${what}`,
      metric: "p99Ms",
      without: "offP99Ms",
      unit: "ms",
      ours: faceOf(state),
    });
  return [...Object.entries(all).map(inQuiet), ...Object.entries(all).map(pairByPair)];
}
