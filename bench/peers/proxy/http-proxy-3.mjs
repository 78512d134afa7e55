import { Agent, createServer } from "node:http";
import { createProxyServer } from "http-proxy-3";
import { listening } from "../../lib/listening.mjs";

// Its native path: the one by fetch is marked experimental, and slower. Without an agent it would keep no connection.
export const apps = {
  proxy: ({ upstream }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 256, scheduling: "lifo" });
    const proxy = createProxyServer({ target: `http://127.0.0.1:${upstream}`, agent });
    proxy.on("error", (error) => {
      throw error;
    });
    return listening(createServer((req, res) => proxy.web(req, res)));
  },
};
