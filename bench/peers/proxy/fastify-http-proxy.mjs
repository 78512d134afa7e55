import proxy from "@fastify/http-proxy";
import fastify from "fastify";
import { listening } from "../../lib/listening.mjs";

// On undici, its default, as its README sets it. On node:http, which it can use too, it is slower.
export const apps = {
  proxy: async ({ upstream }) => {
    const app = fastify({ logger: false });
    await app.register(proxy, {
      upstream: `http://127.0.0.1:${upstream}`,
      undici: { connections: 128, pipelining: 1, keepAliveTimeout: 600_000 },
    });
    await app.ready();
    return listening(app.server);
  },
};
