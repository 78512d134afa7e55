import { Readable } from "node:stream";
import fastify, { type FastifyRequest } from "fastify";
import { decisionOf, tidegate } from "tidegate/fastify";
import { adapterContract } from "../../packages/tidegate/src/testing/adapter-contract.js";

adapterContract("tidegate/fastify", {
  async serve(mounts, app) {
    const server = fastify({ forceCloseConnections: true });
    for (const options of mounts) server.register(tidegate(options));
    server.all("/*", async (request, reply) => {
      const { status = 200, body } = await app(decisionOf(request));
      return reply
        .code(status)
        .type("text/plain")
        .send(typeof body === "string" ? body : Readable.from(body));
    });
    const url = await server.listen({ host: "127.0.0.1", port: 0 });
    return { url, close: () => server.close() };
  },
  headerOf: (request, name) => (request as FastifyRequest).headers[name] as string | undefined,
});
