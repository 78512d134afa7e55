import { makeKeys, randomWalk } from "./keys.mjs";
import { inFlight, sink } from "./load.mjs";
import { median } from "./stats.mjs";

const CLIENTS = 10_000;

export async function cpuSeconds(command) {
  const info = String(await command("INFO", "cpu"));
  const read = (field) => Number(new RegExp(`^${field}:([0-9.]+)`, "m").exec(info)[1]);
  return read("used_cpu_user") + read("used_cpu_sys");
}

export async function usedMemory(command) {
  return Number(/^used_memory:(\d+)/m.exec(String(await command("INFO", "memory")))[1]);
}

/** Random clients out of 10,000, at the parameters' number in flight. */
export async function setupLoad({ make, command, sampleMs }) {
  const keys = makeKeys(CLIENTS);
  const walk = randomWalk(CLIENTS, 1 << 20);
  const contestant = await make();
  for (const warm of [1, 64, 512]) await inFlight(contestant, keys, walk, warm, sampleMs / 2);
  return {
    async sample(params) {
      const paired = params.inFlight === 1 ? await besideIncr(contestant, command, keys, walk, sampleMs) : {};
      const before = await cpuSeconds(command);
      const result = await inFlight(contestant, keys, walk, params.inFlight, sampleMs);
      const cpuMicros = ((await cpuSeconds(command)) - before) * 1e6;
      return { ...result, ...paired, redisCpuMicros: cpuMicros / result.decisions };
    },
  };
}

/**
 * One call at a time, in turn with a bare INCR from the same process. Alone, a round trip's time depends mostly
 * on which core the scheduler put whom; the factor between the two does not.
 */
async function besideIncr({ call }, command, keys, walk, ms) {
  const own = [];
  const incr = [];
  const until = performance.now() + ms;
  for (let i = 0; performance.now() < until; i++) {
    const key = keys[walk[i]];
    const first = performance.now();
    sink.answer = await call(key);
    const second = performance.now();
    sink.answer = await command("INCR", `bare:${key}`);
    own.push(second - first);
    incr.push(performance.now() - second);
  }
  return { p50ToIncr: median(own) / median(incr) };
}
