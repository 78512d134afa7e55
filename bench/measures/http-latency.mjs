import { giveCores } from "../lib/cores.mjs";
import { loadOn, warmUp } from "../lib/http-load.mjs";

export const id = "http-latency";
export const title = "latency on node:http at half the app's peak, three rules";
export const http = true;
export const redis = true;
// The one on Redis is prepared first: its peak sets the pace of both.
export const contestants = ["tidegate.node-redis", "tidegate.node-three"];
export const metrics = ["p50Ms", "p99Ms", "rate"];
const RATE_KEY = "bench:http-latency:rate";

async function pace(load, command, contestant, sampleMs) {
  if (contestant === contestants[0]) {
    const { rate } = await load.flood(sampleMs * 2);
    await command("SET", RATE_KEY, String(Math.round(rate / 2)));
  }
  return Number(await command("GET", RATE_KEY));
}

/** Samples are short and many, so that what disturbs one pair leaves the others alone. */
export const turns = 8;
const SHARE_OF_SAMPLE = 0.25;

export async function setup({ make, command, contestant, sampleMs }) {
  const load = await loadOn(await make());
  await giveCores({ server: process.pid, load: load.pid, command });
  await warmUp(load, sampleMs);
  const rate = await pace(load, command, contestant, sampleMs);
  await load.pace(sampleMs, rate);
  return { sample: () => load.pace(sampleMs * SHARE_OF_SAMPLE, rate) };
}

export function rows({ added }) {
  return [
    added({
      what: "p99 added by Redis",
      metric: "p99Ms",
      unit: "ms",
      ours: contestants[0],
      without: contestants[1],
      bar: { below: 2 },
    }),
  ];
}
