import { RateLimiter } from "limiter";
import { LIMIT, WINDOW_MS } from "../lib/settings.mjs";

export const name = "limiter";

// It limits one thing: a limiter per client, in a Map.
function perKey() {
  const limiters = new Map();
  return (key) => {
    let limiter = limiters.get(key);
    if (limiter === undefined) {
      limiter = new RateLimiter({ tokensPerInterval: LIMIT, interval: WINDOW_MS, fireImmediately: true });
      limiters.set(key, limiter);
    }
    return limiter;
  };
}

export const memory = {
  consume: () => {
    const of = perKey();
    return { call: (key) => of(key).removeTokens(1) };
  },
  sync: () => {
    const of = perKey();
    return { sync: true, call: (key) => of(key).tryRemoveTokens(1) };
  },
};
