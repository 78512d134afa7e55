// Not a limiter: the floor. A Map that counts, and INCR on the same client.
export const name = "bare";

export const memory = {
  map: () => {
    const map = new Map();
    return { sync: true, call: (key) => map.set(key, (map.get(key) ?? 0) + 1) };
  },
};

export const redis = {
  incr: ({ client }) => ({ call: (key) => client.incr(`bare:${key}`) }),
};
