// id -> module. Add a peer: one file beside this one, one line here. Apps that have it in front are in http/,
// under the same file name.
export const peers = {
  tidegate: "./tidegate.mjs",
  rlf: "./rate-limiter-flexible.mjs",
  erl: "./express-rate-limit.mjs",
  rlr: "./rate-limit-redis.mjs",
  fst: "./fastify-rate-limit.mjs",
  nest: "./nestjs-throttler.mjs",
  lim: "./limiter.mjs",
  bare: "./bare.mjs",
};

export const load = (id, http = false) =>
  import(new URL(peers[id], new URL(http ? "./http/" : "./", import.meta.url)));

const NAMES = {
  tidegate: "tidegate",
  rlf: "rate-limiter-flexible",
  erl: "express-rate-limit",
  rlr: "rate-limit-redis",
  fst: "@fastify/rate-limit",
  nest: "@nestjs/throttler",
  lim: "limiter",
  bare: "bare",
};

/** "rlf.one-sha" -> "rate-limiter-flexible one-sha"; the plain faces go unnamed. */
export function label(contestant) {
  const [id, face] = contestant.split(".");
  return ["consume", "one"].includes(face) ? NAMES[id] : `${NAMES[id]} ${face}`;
}
