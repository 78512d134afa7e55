import { expressApp, fastifyApp, nodeApp } from "../../lib/apps.mjs";

export const apps = {
  node: () => nodeApp(),
  express: () => expressApp(),
  fastify: () => fastifyApp(),
};
