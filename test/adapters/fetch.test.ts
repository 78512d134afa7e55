import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { decisionOf, type FetchHandler, tidegate } from "tidegate/fetch";
import { adapterContract } from "../../packages/tidegate/src/testing/adapter-contract.js";
import { answerFetch, listening } from "./serving.js";

adapterContract("tidegate/fetch", {
  async serve(mounts, app) {
    const guards = mounts.map((options) => tidegate(options));
    const handler = guards.reduceRight<FetchHandler<[unknown]>>(
      (inner, guard) => guard(inner),
      async (request) => answerFetch(await app(decisionOf(request))),
    );
    const listener = getRequestListener((request, env) => handler(request, env), {
      overrideGlobalObjects: false,
    });
    return listening(createServer(listener));
  },
  headerOf: (request, name) => (request as Request).headers.get(name) ?? undefined,
});
