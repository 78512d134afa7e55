import rateLimit from "@fastify/rate-limit";
import { fastifyApp } from "../../lib/apps.mjs";
import { connect, withDefineCommand } from "../../lib/clients.mjs";
import { LIMIT, WINDOW_MS } from "../../lib/settings.mjs";

const options = { max: LIMIT, timeWindow: WINDOW_MS };

export const apps = {
  fastify: () => fastifyApp(rateLimit, options),
  "fastify-redis": ({ client, clientName }) =>
    fastifyApp(rateLimit, { ...options, redis: withDefineCommand(client, clientName) }),
  // On the client it was written for, whichever the others have.
  "fastify-ioredis": async ({ port }) =>
    fastifyApp(rateLimit, { ...options, redis: await connect("ioredis", port) }),
};
