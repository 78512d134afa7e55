import { findNginx } from "../lib/nginx.mjs";
import { cpuMicrosOf, setupProxy, verifyKept, warmUpOn } from "../lib/wire-load.mjs";

export const id = "proxy";
export const title = "proxy with the gate, one core";
export const http = "proxy";
/** Without any limiter. */
export const PEERS = ["hp3.proxy", "hxy.proxy", "fhp.proxy"];
export const contestants = [
  "tidegate.proxy",
  ...PEERS,
  ...(findNginx() === undefined ? [] : ["nginx.proxy"]),
  "bare.direct",
];
export const notes = findNginx() === undefined ? ["nginx was not found on PATH and is left out"] : [];
export const metrics = ["rate", "cpuMicros", "p50Ms", "p99Ms"];
export const params = [
  { name: "GET", request: "get" },
  { name: "POST 1 kB, answer 10 kB", request: "post" },
];

export async function setup({ make, contestant, sampleMs }) {
  const names = params.map(({ request }) => request);
  const { upstream, proxy, load } = await setupProxy({ make, contestant, names });
  for (const name of names) await warmUpOn(load, name, sampleMs);
  await verifyKept(upstream);
  return {
    async sample({ request }) {
      // Connections that idled away are opened again.
      await load.flood(request, 100);
      const before = cpuMicrosOf(proxy);
      const result = await load.flood(request, sampleMs);
      const cpuMicros = (cpuMicrosOf(proxy) - before) / result.requests;
      // JSON would make a zero of it.
      return Number.isNaN(cpuMicros) ? result : { ...result, cpuMicros };
    },
  };
}

export function rows({ row }) {
  return params.flatMap(({ name }) => {
    const base = { ours: "tidegate.proxy", at: name };
    const cpu = { ...base, metric: "cpuMicros", unit: "µs" };
    return [
      row({ ...base, what: `${name}, requests/s`, metric: "rate", peers: PEERS, bar: { over: 1 } }),
      row({ ...cpu, what: `${name}, CPU per request`, peers: PEERS, bar: { under: 1 } }),
      row({ ...base, what: `${name}, requests/s, beside nginx`, metric: "rate", peers: ["nginx.proxy"] }),
      row({ ...cpu, what: `${name}, CPU per request, beside nginx`, peers: ["nginx.proxy"] }),
    ];
  });
}
