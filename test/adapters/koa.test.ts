import { createServer } from "node:http";
import { Readable } from "node:stream";
import Koa, { type Context } from "koa";
import { decisionOf, tidegate } from "tidegate/koa";
import { adapterContract } from "../../packages/tidegate/src/testing/adapter-contract.js";
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
