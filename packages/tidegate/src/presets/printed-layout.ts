import type { Templates } from "../stores/redis/directory/layout.js";

/** Where the first of the seeds keeps its lists, tiers and overrides in Redis: `templates` for a `redisDirectory`. */
export const printedLayout: Readonly<Required<Templates>> = {
  safelist: "safelist:<ip>",
  blocklist: "blocklist:<ip>",
  tier: "customer:<id>:tier_redis",
  limits: "customer:<id>:throttle_hash",
};
