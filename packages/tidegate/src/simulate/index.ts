export { openRehearsal } from "./open-rehearsal.js";
export type * from "./rehearsal.js";
export * from "./scenarios/index.js";
export * from "./traffic/index.js";
