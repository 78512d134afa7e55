import { pinMeasured } from "../lib/pinning.mjs";
import { cpuMicrosOf, startLoad, verifyAnswer, warmUpOn } from "../lib/wire-load.mjs";
import { halfOfSlowest } from "../lib/wire-pace.mjs";
import { DECISION_BYTES } from "../lib/wire-requests.mjs";

export const id = "decide";
export const title = "POST /v1/decide, keep-alive, one core";
export const http = "proxy";
export const contestants = ["tidegate.decide", "bare.echo"];
export const metrics = ["rate", "cpuMicros", "p50Ms", "p99Ms"];
export const params = [{ name: "flat out" }, { name: "at half of the slower one's peak", isPaced: true }];
export const agree = halfOfSlowest;
const REQUEST = "decide";

/** An echo of another length would be compared in vain. */
async function verify(port, contestant) {
  const text = await verifyAnswer(port, REQUEST, {});
  if (Math.abs(text.length - DECISION_BYTES) > DECISION_BYTES / 20)
    throw new Error(`answers ${text.length} bytes, not about ${DECISION_BYTES}`);
  const { allowed, verdicts, headers } = JSON.parse(text);
  if (contestant !== "tidegate.decide") return;
  if (!allowed || verdicts.length !== 1 || !("RateLimit" in headers)) throw new Error(`no decision: ${text}`);
}

export async function setup({ make, contestant, sampleMs }) {
  pinMeasured(process.pid);
  const service = await make();
  await verify(service.port, contestant);
  const load = await startLoad(service.port);
  await warmUpOn(load, REQUEST, sampleMs);
  const { rate } = await load.flood(REQUEST, sampleMs * 2);
  return {
    facts: { peak: rate },
    async sample({ isPaced, rate }) {
      const before = cpuMicrosOf(service);
      const result = isPaced
        ? await load.pace(REQUEST, sampleMs * 2, rate)
        : await load.flood(REQUEST, sampleMs);
      return { ...result, cpuMicros: (cpuMicrosOf(service) - before) / result.requests };
    },
  };
}

export function rows({ row }) {
  const base = { ours: "tidegate.decide", peers: ["bare.echo"] };
  const [flatOut, half] = params.map(({ name }) => name);
  return [
    row({ ...base, what: "requests/s, to a JSON echo", metric: "rate", at: flatOut, bar: { atLeast: 0.8 } }),
    row({ ...base, what: "p99, flat out", metric: "p99Ms", unit: "ms", at: flatOut }),
    row({ ...base, what: "p99, at half the peak", metric: "p99Ms", unit: "ms", at: half }),
  ];
}
