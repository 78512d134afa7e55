// A contestant's process is the server; it starts the load as a process of its own.
import { fork } from "node:child_process";
import { giveCores } from "./cores.mjs";
import { cpuSeconds } from "./redis-load.mjs";

const LOADER = new URL("./http-loader.mjs", import.meta.url);
const SOCKETS = 64;

const listening = (server) =>
  new Promise((resolve, reject) => {
    // Longer than a contestant waits for its turn.
    server.keepAliveTimeout = 600_000;
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });

/** Answers `flood(ms)` and `pace(ms, rate)`: see http-loader.mjs. It may stay awake where it is alone on its core. */
export async function loadOn(server, { isAwake = false } = {}) {
  const port = await listening(server);
  const child = fork(LOADER, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  let waiting;
  child.on("message", ({ result }) => waiting.resolve(result));
  child.on("exit", (code) => waiting?.reject(new Error(`the load's process ended (${code})`)));
  const ask = (message) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      child.send(message);
    });
  await ask({ do: "open", port, sockets: SOCKETS });
  return {
    pid: child.pid,
    flood: (ms) => ask({ do: "flood", ms, isAwake }),
    pace: (ms, rate) => ask({ do: "pace", ms, rate }),
  };
}

/** Until V8 has compiled what there is to compile. */
export async function warmUp(load, sampleMs) {
  for (let i = 0; i < 3; i++) await load.flood(Math.max(500, sampleMs));
}

/**
 * Samples are short and many: on a busy machine two of them differ by a fifth whoever takes them, and what limiters differ by
 * is a fortieth. Processes begin anew after so many, lest one app have one lucky process.
 */
export const floodTurns = 48;
const SHARE_OF_SAMPLE = 0.125;

/** The most the app can do, and what a request costs this process and Redis in CPU time. */
export async function setupFlood({ make, command, sampleMs }) {
  const load = await loadOn(await make(), { isAwake: command === undefined });
  await giveCores({ server: process.pid, load: load.pid, command });
  await warmUp(load, sampleMs);
  return {
    async sample() {
      const redisBefore = command && (await cpuSeconds(command));
      const before = process.cpuUsage();
      const result = await load.flood(sampleMs * SHARE_OF_SAMPLE);
      if (result.requests === 0) throw new Error("answered nothing");
      const { user, system } = process.cpuUsage(before);
      const sample = { ...result, cpuMicros: (user + system) / result.requests };
      if (command === undefined) return sample;
      const redisCpuMicros = (((await cpuSeconds(command)) - redisBefore) * 1e6) / result.requests;
      return { ...sample, redisCpuMicros };
    },
  };
}
