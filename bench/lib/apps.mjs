// The apps that are protected: each says BODY to everyone. They answer a node:http server that does not listen yet.
import { createServer } from "node:http";
import { BODY } from "./settings.mjs";

export function nodeApp(guard = (handler) => handler) {
  return createServer(
    guard((_req, res) => {
      res.setHeader("Content-Type", "text/plain");
      res.end(BODY);
    }),
  );
}

export async function expressApp(middleware) {
  const { default: express } = await import("express");
  const app = express();
  if (middleware !== undefined) app.use(middleware);
  app.get("/api/items", (_req, res) => res.type("text").send(BODY));
  return createServer(app);
}

export async function fastifyApp(plugin, options) {
  const { default: fastify } = await import("fastify");
  const app = fastify();
  if (plugin !== undefined) await app.register(plugin, options);
  app.get("/api/items", (_request, reply) => reply.type("text/plain").send(BODY));
  await app.ready();
  return app.server;
}
