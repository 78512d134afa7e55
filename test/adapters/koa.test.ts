import { createServer } from "node:http";
import { Readable } from "node:stream";
import Koa, { type Context } from "koa";
import { decisionOf, tidegate } from "tidegate/koa";
import { expect, it } from "vitest";
import { adapterContract } from "../../packages/tidegate/src/testing/adapter-contract.js";
import { ask } from "../../packages/tidegate/src/testing/ask.js";
import { listening } from "./serving.js";

adapterContract("tidegate/koa", {
  ignoresCase: true,
  async serve(mounts, app) {
    const server = new Koa();
    server.silent = true;
    for (const options of mounts) server.use(tidegate(options));
    server.use(async (ctx) => {
      const { status = 200, body } = await app(decisionOf(ctx));
      ctx.status = status;
      ctx.body = typeof body === "string" ? body : Readable.from(body);
      ctx.type = "text/plain";
    });
    return listening(createServer(server.callback()));
  },
  headerOf: (context, name) => (context as Context).get(name) || undefined,
});

it("tells the limits also beside an error, and leaves the error's own headers", async () => {
  const app = new Koa();
  app.silent = true;
  app.use(tidegate({ limit: "5 per minute", headers: ["draft-11", "legacy"] }));
  app.use(() => {
    throw Object.assign(new Error("no such page"), { status: 404, expose: true, headers: { allow: "GET" } });
  });
  const { url, close } = await listening(createServer(app.callback()));
  expect(await ask(url)).toMatchObject({
    status: 404,
    body: "no such page",
    headers: { allow: "GET", "ratelimit-policy": '"requests/60";q=5;w=60', "x-ratelimit-limit": "5" },
  });
  await close();
});
