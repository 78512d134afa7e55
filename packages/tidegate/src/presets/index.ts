export {
  type ApiThrottling,
  type ApiThrottlingMetrics,
  apiThrottling,
} from "./api-throttling/api-throttling.js";
export type { Cache } from "./api-throttling/cache.js";
export type { Anonymous, ApiThrottlingOptions } from "./api-throttling/options.js";
export { type EarrrlCompatOptions, type EarrrlReply, earrrlCompat } from "./earrrl/earrrl-compat.js";
export { earrrlScript } from "./earrrl/earrrl-script.js";
export { type PassOrExceeded, passOrExceeded } from "./pass-or-exceeded.js";
export { printedLayout } from "./printed-layout.js";
