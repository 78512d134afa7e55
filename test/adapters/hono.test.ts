import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { decisionOf, tidegate } from "tidegate/hono";
import { adapterContract } from "../../packages/tidegate/src/testing/adapter-contract.js";
import { answerFetch, listening } from "./serving.js";

adapterContract("tidegate/hono", {
  async serve(mounts, app) {
    const server = new Hono();
    for (const options of mounts) server.use(tidegate(options));
    server.all("*", async (c) => answerFetch(await app(decisionOf(c))));
    return listening(createServer(getRequestListener(server.fetch, { overrideGlobalObjects: false })));
  },
  headerOf: (context, name) => (context as Context).req.header(name),
});
