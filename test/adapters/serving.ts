import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Decision } from "tidegate";
import type { App, AppAnswer } from "../../packages/tidegate/src/testing/adapter-contract.js";

/** Starts a server on a free port of 127.0.0.1. */
export async function listening(server: Server): Promise<{ url: string; close(): Promise<void> }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The app as a handler of node:http, and of all that build on it. */
export function answerNode(
  app: App,
  decisionOf: (req: IncomingMessage) => Decision | undefined,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    const { status = 200, body } = await app(decisionOf(req));
    res.statusCode = status;
    res.setHeader("content-type", "text/plain");
    if (typeof body === "string") {
      res.end(body);
      return;
    }
    for await (const piece of body) {
      if (res.destroyed) return;
      res.write(piece);
    }
    res.end();
  };
}

export function headerOfNode(request: unknown, name: string): string | undefined {
  return (request as IncomingMessage).headers[name] as string | undefined;
}

/** The app's answer as a `Response`. */
export function answerFetch({ status = 200, body }: AppAnswer): Response {
  const sent = typeof body === "string" ? body : ReadableStream.from(bytesOf(body));
  return new Response(sent, { status, headers: { "content-type": "text/plain" } });
}

async function* bytesOf(pieces: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}
