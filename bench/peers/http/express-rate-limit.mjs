import { rateLimit } from "express-rate-limit";
import { expressApp } from "../../lib/apps.mjs";
import { send } from "../../lib/clients.mjs";
import { LIMIT, WINDOW_MS } from "../../lib/settings.mjs";

// Its cheapest pair of headers (draft-8 hashes the key for every answer), without its checks of the request.
const options = {
  windowMs: WINDOW_MS,
  limit: LIMIT,
  standardHeaders: "draft-7",
  legacyHeaders: false,
  validate: false,
};

export const apps = {
  express: () => expressApp(rateLimit(options)),
  "express-redis": async ({ client, clientName }) => {
    const { RedisStore } = await import("rate-limit-redis");
    const store = new RedisStore({ sendCommand: (...args) => send(client, clientName, args) });
    return expressApp(rateLimit({ ...options, store }));
  },
};
