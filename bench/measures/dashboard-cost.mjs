import { setTimeout as pause } from "node:timers/promises";
import { startChild } from "../lib/child.mjs";
import { hasChromium } from "../lib/chromium.mjs";
import { cpuMicrosOf, setupProxy, warmUpOn } from "../lib/wire-load.mjs";

export const id = "dashboard-cost";
export const title = "the proxy while people watch, one core";
export const http = "proxy";
const OURS = "tidegate.dashboard";
export const contestants = hasChromium ? [OURS] : [];
export const notes = hasChromium ? [] : ["Chromium was not found and is left out"];
export const rounds = 10;
export const metrics = ["rate", "cpuMicros"];
const NONE = "nobody watches";
const FIVE = "five dashboards";
export const params = [
  { name: NONE, count: 0 },
  { name: FIVE, count: 5 },
];

export async function setup({ make, contestant, sampleMs }) {
  const { proxy, load } = await setupProxy({ make, contestant, names: ["get"] });
  const ask = startChild("./dashboards.mjs", "the dashboards' process");
  await warmUpOn(load, "get", sampleMs);
  return {
    async sample({ count }) {
      await ask({ do: "open", count, admin: proxy.admin, token: proxy.token });
      await pause(1_000);
      await load.flood("get", 500);
      const before = cpuMicrosOf(proxy);
      const result = await load.flood("get", 3 * sampleMs);
      const cpuMicros = (cpuMicrosOf(proxy) - before) / result.requests;
      await ask({ do: "close" });
      return { ...result, cpuMicros };
    },
  };
}

export function rows({ row }) {
  const base = { ours: OURS, peers: [OURS], at: FIVE, peersAt: NONE };
  return [
    row({ ...base, what: `requests/s with ${FIVE}`, metric: "rate", bar: { atLeast: 0.95 } }),
    row({ ...base, what: `CPU per request with ${FIVE}`, metric: "cpuMicros", unit: "µs" }),
  ];
}
