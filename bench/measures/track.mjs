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
export const turns = 8;
export const renewed = true;
export const agree = halfOfSlowest;

export function rows({ addedTo }) {
  const added = (state, what, bar) =>
    addedTo({
      what: `p99 added, ${what}`,
      metric: "p99Ms",
      without: "offP99Ms",
      unit: "ms",
      ours: faceOf(state),
      bar,
    });
  return [
    ...Object.entries(STATES).map(([state, what]) => added(state, what, { below: 0.2 })),
    added(CONTROL, "no tracking in either (noise)"),
  ];
}
