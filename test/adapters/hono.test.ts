import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { concurrency } from "tidegate";
import { decisionOf, tidegate } from "tidegate/hono";
import { expect, it, vi } from "vitest";
import { adapterContract } from "../../packages/tidegate/src/testing/adapter-contract.js";
import { ask } from "../../packages/tidegate/src/testing/ask.js";
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

it("gives a lease back as soon as node:http has sent what middleware further out put in its place", async () => {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    if (c.res.status === 404) c.res = new Response("no such page", { status: 404 });
  });
  app.use(
    tidegate({ rules: [{ name: "one", by: "ip", limits: [concurrency({ limit: 1, leaseFor: "10m" })] }] }),
  );
  const { url, close } = await listening(createServer(getRequestListener(app.fetch)));
  for (let i = 0; i < 3; i++)
    await vi.waitFor(async () => expect(await ask(url)).toMatchObject({ status: 404, body: "no such page" }));
  await close();
});
