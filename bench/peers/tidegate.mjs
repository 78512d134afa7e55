import * as tidegate from "tidegate";
import { LIMIT, THREE, WINDOW_MS } from "../lib/settings.mjs";
import { gates } from "./tidegate-gates.mjs";

export const name = "tidegate";

const hourly = () => tidegate.fixedWindow({ limit: LIMIT, window: WINDOW_MS });

function decideOn(store) {
  const limit = hourly();
  return { sync: true, call: (key) => store.decide([{ rule: "api", key, limit, cost: 1 }]) };
}

/** What the fallback answers is not what is measured: a sample in which it took over is no sample. */
function onDegraded(error) {
  console.error("The store fell behind; this figure would be of the fallback.", error);
  process.exit(1);
}

function consumeOn(store, limits, name = "api") {
  const limiter = tidegate.createLimiter({ name, store, deadlineMs: 2000, onDegraded, ...limits });
  return { call: (key) => limiter.consume(key) };
}

export const memory = {
  consume: ({ keys }) => consumeOn(tidegate.memoryStore({ maxKeys: keys }), { limit: hourly() }),
  decide: ({ keys }) => decideOn(tidegate.memoryStore({ maxKeys: keys })),
  // A bare Map reads no clock; with a clock handed in, neither do we.
  "decide-clock": ({ keys }) => {
    const now = Date.now();
    return decideOn(tidegate.memoryStore({ maxKeys: keys, clock: () => now }));
  },
  ...gates,
};

async function redisStore({ client }) {
  const { redisStore } = await import("tidegate/redis");
  return redisStore({ client });
}

// A name for each: limiters of one name share what they count.
export const redis = {
  one: async (context) => consumeOn(await redisStore(context), { limit: hourly() }),
  three: async (context) =>
    consumeOn(await redisStore(context), { limits: THREE.map(({ text }) => text) }, "ap3"),
  "three-rules": async (context) => {
    const store = await redisStore(context);
    const limit = hourly();
    return {
      call: (key) =>
        store.decide([
          { rule: "ip", key: `i${key}`, limit, cost: 1 },
          { rule: "user", key: `u${key}`, limit, cost: 1 },
          { rule: "path", key: `p${key}`, limit, cost: 1 },
        ]),
    };
  },
  // `store.decide`, without the limiter around it.
  decide: async (context) => {
    const store = await redisStore(context);
    const limit = hourly();
    return { call: (key) => store.decide([{ rule: "api", key, limit, cost: 1 }]) };
  },
  log: async (context) =>
    consumeOn(
      await redisStore(context),
      { limit: tidegate.slidingLog({ limit: 1_000_000, window: "1d" }) },
      "log",
    ),
};
