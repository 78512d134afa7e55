import { createServer } from "node:net";

// Below the range systems hand out to outgoing connections, so that a server killed and restarted
// on its port finds it still free.
const LOWEST = 20_000;
const HIGHEST = 31_999;
const handedOut = new Set<number>();

/** Every worker hands out ports of its own, so that one's server that is down for a while finds its port still free. */
const WORKERS = 4;
const worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS;

/** A loopback port that nobody listens on, and that this process has not handed out before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const pick = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1));
    const port = pick - (pick % WORKERS) + worker;
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
