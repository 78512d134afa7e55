// id -> module. Add a peer: one file beside this one, one line here. Apps that have it in front are in http/,
// proxies and services in proxy/, commands that read logs in replay/, under the same file name.
export const peers = {
  tidegate: "./tidegate.mjs",
  rlf: "./rate-limiter-flexible.mjs",
  erl: "./express-rate-limit.mjs",
  rlr: "./rate-limit-redis.mjs",
  fst: "./fastify-rate-limit.mjs",
  nest: "./nestjs-throttler.mjs",
  lim: "./limiter.mjs",
  bare: "./bare.mjs",
  hp3: "./http-proxy-3.mjs",
  hxy: "./httpxy.mjs",
  fhp: "./fastify-http-proxy.mjs",
  nginx: "./nginx.mjs",
  goaccess: "./goaccess.mjs",
};

/** `http` is a measure's: true for apps, or the name of another folder. */
export const load = (id, http = false) => {
  const folder = http === false ? "./" : http === true ? "./http/" : `./${http}/`;
  return import(new URL(peers[id], new URL(folder, import.meta.url)));
};

const NAMES = {
  tidegate: "tidegate",
  rlf: "rate-limiter-flexible",
  erl: "express-rate-limit",
  rlr: "rate-limit-redis",
  fst: "@fastify/rate-limit",
  nest: "@nestjs/throttler",
  lim: "limiter",
  bare: "bare",
  hp3: "http-proxy-3",
  hxy: "httpxy",
  fhp: "@fastify/http-proxy",
  nginx: "nginx",
  goaccess: "GoAccess",
};

/** "rlf.one-sha" -> "rate-limiter-flexible one-sha"; the plain faces go unnamed. */
export function label(contestant) {
  const [id, face] = contestant.split(".");
  return ["consume", "one", "proxy"].includes(face) ? NAMES[id] : `${NAMES[id]} ${face}`;
}
