import { keyOf } from "../lib/keys.mjs";
import { each } from "../lib/load.mjs";
import { usedMemory } from "../lib/redis-load.mjs";

export const id = "redis-bytes";
export const title = "Redis bytes per client";
export const redis = true;
export const fresh = true;
const ONE = ["rlf.one", "rlr.one", "fst.one"];
const THREE = ["rlf.three", "rlr.three", "fst.three"];
export const contestants = ["tidegate.one", "bare.incr", ...ONE, "tidegate.three", ...THREE];
export const metrics = ["bytes", "memoryUsage"];
const CLIENTS = 100_000;

/** Until an ongoing rehash is over: the old table is not the clients'. */
async function atRest(command) {
  let last = -1;
  for (;;) {
    const used = await usedMemory(command);
    if (Math.abs(used - last) < 2048) return used;
    last = used;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

export async function setup({ make, command }) {
  return {
    async sample() {
      const { call } = await make();
      await each(call, keyOf, CLIENTS, CLIENTS + 1000);
      await command("FLUSHALL", "SYNC");
      const before = await atRest(command);
      // Twice, so that a state that changes shape at its second hit has its lasting one.
      await each(call, keyOf, 0, CLIENTS);
      await each(call, keyOf, 0, CLIENTS);
      const bytes = ((await atRest(command)) - before) / CLIENTS;
      let sum = 0;
      let cursor = "0";
      let seen = 0;
      do {
        const [next, names] = await command("SCAN", cursor, "COUNT", "1000");
        cursor = String(next);
        for (const name of names) sum += Number(await command("MEMORY", "USAGE", name));
        seen += names.length;
      } while (cursor !== "0" && seen < 1000);
      const keysPerClient = Number(await command("DBSIZE")) / CLIENTS;
      await command("FLUSHALL", "SYNC");
      return { bytes, memoryUsage: (sum / seen) * keysPerClient };
    },
  };
}

export function rows({ row }) {
  const base = { metric: "bytes", unit: "B" };
  return [
    row({ ...base, what: "one limit", ours: "tidegate.one", peers: ONE, bar: { atMost: 1.6 } }),
    row({ ...base, what: "three limits", ours: "tidegate.three", peers: THREE, bar: { atMost: 0.6 } }),
  ];
}
