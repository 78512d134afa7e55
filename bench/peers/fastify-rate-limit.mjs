import LocalStore from "@fastify/rate-limit/store/LocalStore.js";
import RedisStore from "@fastify/rate-limit/store/RedisStore.js";
import { withDefineCommand } from "../lib/clients.mjs";
import { LIMIT, THREE, WINDOW_MS } from "../lib/settings.mjs";

export const name = "@fastify/rate-limit";

// Its stores call back; a promise around the call is what its own plugin puts there too.
const promised = (store, key, windowMs, limit) =>
  new Promise((resolve, reject) => {
    store.incr(key, (error, result) => (error ? reject(error) : resolve(result)), windowMs, limit);
  });

// Its LRU keeps 5,000 keys unless told; it is given room for all of them.
export const memory = {
  consume: ({ keys }) => {
    const store = new LocalStore(false, false, keys);
    return { call: (key) => promised(store, key, WINDOW_MS, LIMIT) };
  },
  sync: ({ keys }) => {
    const store = new LocalStore(false, false, keys);
    let answer;
    const callback = (_error, result) => {
      answer = result;
    };
    return {
      sync: true,
      call: (key) => {
        store.incr(key, callback, WINDOW_MS, LIMIT);
        return answer;
      },
    };
  },
};

export const redis = {
  one: ({ client, clientName }) => {
    const store = new RedisStore(false, false, withDefineCommand(client, clientName));
    return { call: (key) => promised(store, key, WINDOW_MS, LIMIT) };
  },
  three: ({ client, clientName }) => {
    const commands = withDefineCommand(client, clientName);
    const stores = THREE.map((_, i) => new RedisStore(false, false, commands, `f${i}:`));
    return {
      call: (key) =>
        Promise.all(stores.map((store, i) => promised(store, key, THREE[i].windowMs, THREE[i].limit))),
    };
  },
};
