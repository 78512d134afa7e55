import { RedisStore } from "rate-limit-redis";
import { send } from "../lib/clients.mjs";
import { THREE, WINDOW_MS } from "../lib/settings.mjs";

export const name = "rate-limit-redis";

async function make({ client, clientName }, windowMs, prefix) {
  const store = new RedisStore({ prefix, sendCommand: (...args) => send(client, clientName, args) });
  await store.init({ windowMs });
  return store;
}

export const redis = {
  one: async (context) => {
    const store = await make(context, WINDOW_MS, "rl:");
    return { call: (key) => store.increment(key) };
  },
  // It has no limit of several windows: three middlewares, here side by side rather than one after another.
  three: async (context) => {
    const [a, b, c] = await Promise.all(THREE.map(({ windowMs }, i) => make(context, windowMs, `r${i}:`)));
    return { call: (key) => Promise.all([a.increment(key), b.increment(key), c.increment(key)]) };
  },
};
