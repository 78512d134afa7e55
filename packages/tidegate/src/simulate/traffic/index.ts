export { customerOf } from "./machines.js";
export { type Random, seededRandom } from "./random.js";
export { type Cast, type TrafficModelOptions, trafficModel } from "./traffic-model.js";
export type { Abuse, ModelledRequest, Truth, Who } from "./truth.js";
