import { createClient } from "@redis/client";
import { Redis } from "ioredis";

/** The clients, each with its fastest settings. */
export async function connect(clientName, port) {
  if (clientName === "ioredis") {
    const client = new Redis({ host: "127.0.0.1", port, enableAutoPipelining: false });
    await client.ping();
    return client;
  }
  // By default node-redis 6 makes an AbortSignal for every command; without it, it is several times faster.
  const client = createClient({ socket: { host: "127.0.0.1", port }, commandOptions: { timeout: 0 } });
  client.on("error", (error) => console.error(`redis client: ${error.message}`));
  await client.connect();
  return client;
}

export const send = (client, clientName, args) =>
  clientName === "ioredis" ? client.call(...args) : client.sendCommand(args);

export async function disconnect(client, clientName) {
  if (clientName === "ioredis") client.disconnect();
  else await client.close();
}

/**
 * Peers written for ioredis call `defineCommand` and pass a callback last. This lets them run on node-redis,
 * so that all run on the same client: the script is loaded once and called by EVALSHA, as ioredis does.
 */
export function withDefineCommand(client, clientName) {
  if (clientName === "ioredis") return client;
  const commands = {
    defineCommand(command, { numberOfKeys, lua }) {
      const count = String(numberOfKeys);
      let sha;
      const loading = client.sendCommand(["SCRIPT", "LOAD", lua]).then((loaded) => {
        sha = loaded;
      });
      const run = (args) => {
        const words = ["EVALSHA", sha, count];
        for (const arg of args) words.push(typeof arg === "string" ? arg : String(arg));
        return client.sendCommand(words);
      };
      commands[command] = (...args) => {
        if (Array.isArray(args[0])) args = args[0];
        const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
        const reply = sha === undefined ? loading.then(() => run(args)) : run(args);
        if (callback === undefined) return reply;
        reply.then((value) => callback(null, value), callback);
      };
    },
  };
  return commands;
}
