export { floodTurns as turns, setupFlood as setup } from "../lib/http-load.mjs";

export const id = "http-cpu";
export const title = "CPU added per request, memory";
export const http = true;
export const renewed = true;
const APPS = ["node", "fastify"];
export const contestants = APPS.flatMap((app) => [
  `bare.${app}`,
  `tidegate.${app}`,
  `tidegate.${app}-hidden`,
]);
export const metrics = ["cpuMicros", "rate", "p50Ms", "p99Ms"];

export function rows({ added }) {
  const cpu = { metric: "cpuMicros", unit: "µs" };
  return APPS.flatMap((app) => {
    const base = { ...cpu, without: `bare.${app}` };
    return [
      added({ ...base, what: `${app}, headers on`, ours: `tidegate.${app}`, bar: { upTo: 10 } }),
      added({ ...base, what: `${app}, headers hidden`, ours: `tidegate.${app}-hidden`, bar: { upTo: 4 } }),
    ];
  });
}
