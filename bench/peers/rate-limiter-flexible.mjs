import { RateLimiterMemory, RateLimiterRedis, RateLimiterUnion } from "rate-limiter-flexible";
import { withDefineCommand } from "../lib/clients.mjs";
import { LIMIT, THREE, WINDOW_MS } from "../lib/settings.mjs";

export const name = "rate-limiter-flexible";

export const memory = {
  consume: () => {
    const limiter = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_MS / 1000 });
    return { call: (key) => limiter.consume(key) };
  },
};

// With node-redis it sends the whole script each time (EVAL); "sha" spares it that, by showing it the
// same client behind ioredis's `defineCommand`. With ioredis both are the same.
const asShipped = ({ client, clientName }) => ({
  storeClient: client,
  useRedisPackage: clientName === "node-redis",
});
const bySha = ({ client, clientName }) => ({ storeClient: withDefineCommand(client, clientName) });

const one = (options) => {
  const limiter = new RateLimiterRedis({ ...options, points: LIMIT, duration: WINDOW_MS / 1000 });
  return { call: (key) => limiter.consume(key) };
};

const three = (options) => {
  const limiters = THREE.map(
    ({ limit, windowMs }, i) =>
      new RateLimiterRedis({ ...options, points: limit, duration: windowMs / 1000, keyPrefix: `rl${i}` }),
  );
  const union = new RateLimiterUnion(...limiters);
  return { call: (key) => union.consume(key) };
};

export const redis = {
  one: (context) => one(asShipped(context)),
  "one-sha": (context) => one(bySha(context)),
  three: (context) => three(asShipped(context)),
  "three-sha": (context) => three(bySha(context)),
};
