import { halfOfSlowest } from "../lib/wire-pace.mjs";

export { renewed, setupPaced as setup, turns } from "../lib/wire-pace.mjs";

export const id = "track";
export const title = "tracking clients, at half of the proxy's peak";
export const http = "proxy";
const OFF = "tidegate.track-off";
const STATES = { up: "the store up", down: "the store killed", frozen: "the store frozen" };
export const contestants = [OFF, ...Object.keys(STATES).map((state) => `tidegate.track-${state}`)];
export const metrics = ["p50Ms", "p99Ms", "rate"];
export const agree = halfOfSlowest;

export function rows({ added }) {
  return Object.entries(STATES).map(([state, what]) =>
    added({
      what: `p99 added, ${what}`,
      metric: "p99Ms",
      unit: "ms",
      ours: `tidegate.track-${state}`,
      without: OFF,
      bar: { below: 0.2 },
    }),
  );
}
