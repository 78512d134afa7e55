import { Agent, createServer } from "node:http";
import { createProxyServer } from "httpxy";
import { listening } from "../../lib/listening.mjs";

// As its own agent, with room for all connections to stay.
export const apps = {
  proxy: ({ upstream }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 256, scheduling: "lifo" });
    const proxy = createProxyServer({ target: `http://127.0.0.1:${upstream}`, agent });
    return listening(createServer((req, res) => proxy.web(req, res)));
  },
};
