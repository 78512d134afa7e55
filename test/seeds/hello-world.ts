import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, request } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import connect from "connect";
import express from "express";
import type { ApiThrottling } from "tidegate/presets";

// Its types are those of Express 5, as far as they are used here.
const express4 = createRequire(import.meta.url)("express4") as typeof express;

/** What came back over the wire, or out of a fetch handler. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The article's "Hello World!" application behind the middleware. */
export interface HelloWorld {
  get(path?: string, headers?: Record<string, string>): Promise<Reply>;
  readonly port: number;
  close(): Promise<void>;
}

const hello = { "Content-Type": "text/plain", "Content-Length": "12" };
const sayHello: RequestListener = (_, response) => void response.writeHead(200, hello).end("Hello World!");

/** Each way to mount the middleware, by the framework's name. */
export const frameworks: Record<string, (throttling: ApiThrottling) => RequestListener> = {
  "node:http": (throttling) => (request, response) =>
    throttling(request, response, () => sayHello(request, response)),
  Connect: (throttling) => connect().use(throttling).use(sayHello),
  "Express 4": (throttling) => express4().use(throttling).use(sayHello),
  "Express 5": (throttling) => express().use(throttling).use(sayHello),
};

export async function serveHello(throttling: ApiThrottling, framework = "node:http"): Promise<HelloWorld> {
  const mount = frameworks[framework] as (typeof frameworks)[string];
  const server = createServer(mount(throttling)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get: (path = "/", headers = {}) => ask(port, path, headers),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The same application as a fetch handler. */
export function fetchHello(throttling: ApiThrottling): Pick<HelloWorld, "get"> {
  const handler = throttling.fetch(() => new Response("Hello World!", { headers: hello }));
  return {
    async get(path = "/", headers = {}) {
      const response = await handler(new Request(`http://localhost${path}`, { headers }));
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      };
    },
  };
}

/** Not by `fetch`, which would tidy the path up. */
function ask(port: number, path: string, headers: Record<string, string>): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      let body = "";
      response.setEncoding("latin1");
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode as number, headers: response.headers, body }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** As curl sends it for http://joe@localhost. */
export function as(user: string, password = ""): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}
