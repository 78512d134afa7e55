import { MemoryStore } from "express-rate-limit";
import { WINDOW_MS } from "../lib/settings.mjs";

export const name = "express-rate-limit";

export const memory = {
  consume: () => {
    const store = new MemoryStore();
    store.init({ windowMs: WINDOW_MS });
    return { call: (key) => store.increment(key) };
  },
};
