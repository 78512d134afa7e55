import { expressApp, fastifyApp, nodeApp } from "../../lib/apps.mjs";
import { connect } from "../../lib/clients.mjs";
import { LIMIT } from "../../lib/settings.mjs";

const limit = `${LIMIT} per hour`;

/** What the fallback answers is not what is measured: a sample in which it took over is no sample. */
function onDegraded(error) {
  console.error("The store fell behind; this figure would be of the fallback.", error);
  process.exit(1);
}

const RULES = [
  { name: "req/ip", by: "ip", limits: [limit] },
  { name: "req/network", by: "network", limits: [limit] },
  { name: "items", only: "/api", by: ["ip", "path"], limits: [limit] },
];

async function threeOnRedis({ client }) {
  const { redisStore } = await import("tidegate/redis");
  return { rules: RULES, store: redisStore({ client }), deadlineMs: 2000, onDegraded };
}

async function onNode(options) {
  const { tidegate } = await import("tidegate/node");
  return nodeApp(tidegate(options));
}

async function onExpress(options) {
  const { tidegate } = await import("tidegate/express");
  return expressApp(tidegate(options));
}

async function onFastify(options) {
  const { tidegate } = await import("tidegate/fastify");
  return fastifyApp(tidegate, options);
}

export const apps = {
  node: () => onNode({ limit }),
  "node-hidden": () => onNode({ limit, headers: false }),
  "node-three": () => onNode({ rules: RULES }),
  "node-redis": async (context) => onNode(await threeOnRedis(context)),
  express: () => onExpress({ limit }),
  "express-redis": async (context) => onExpress(await threeOnRedis(context)),
  fastify: () => onFastify({ limit }),
  "fastify-hidden": () => onFastify({ limit, headers: false }),
  "fastify-redis": async (context) => onFastify(await threeOnRedis(context)),
  "fastify-ioredis": async ({ port }) =>
    onFastify(await threeOnRedis({ client: await connect("ioredis", port) })),
};
