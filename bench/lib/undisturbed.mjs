import { readFileSync } from "node:fs";

const MOST_TRIES = 6;

/**
 * A sample during which no other machine on the same host took a core of this one away, by Linux's own account of it; the least
 * disturbed of so many where none is left alone. What comes to those who ask meanwhile is the neighbour's doing, and some ten
 * times what is to be told apart.
 */
export async function undisturbed(take) {
  let least;
  for (let i = 0; i < MOST_TRIES && least?.stolenMs !== 0; i++) {
    const before = stolenMs();
    const sample = { ...(await take()), stolenMs: 0 };
    sample.stolenMs = stolenMs() - before;
    if (least === undefined || sample.stolenMs < least.stolenMs) least = sample;
  }
  return least;
}

/** By all cores since the start, in steps of 10 ms; 0 where nobody counts it. */
function stolenMs() {
  if (process.platform !== "linux") return 0;
  const [, ticks = 0] = /^cpu +(?:\d+ ){7}(\d+)/m.exec(readFileSync("/proc/stat", "utf8")) ?? [];
  return Number(ticks) * 10;
}
