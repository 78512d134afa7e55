import { literally } from "./layout.js";
import type { Master, Masters } from "./masters.js";
import { textsOf } from "./replies.js";
import { pause, within } from "./timing.js";

/**
 * Keys looked at in one step. Redis does nothing else for 2 to 3 ms; a million keys take 200 steps and about 0.6 s in all.
 * Half of it would be kinder to Redis and a sixth slower: a search follows a broken connection only, and is then wanted within 1 s.
 */
const stepSize = "5000";
const stepWithinMs = 5000;
/** A step that took longer met a busy Redis, or many processes that search too: the next one waits as much longer. */
const unhurriedMs = 20;
const longestPauseMs = 100;

/** Finds all keys that match, on all masters, step by step and one step at a time on each. */
export async function scanKeys(
  masters: Masters,
  pattern: string,
  found: (keys: readonly string[]) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { keyPrefix } = masters;
  const whole = literally(keyPrefix) + pattern;
  const foundThere = (keys: readonly string[]) => found(keys.map((key) => key.slice(keyPrefix.length)));
  await Promise.all(masters.now().map((master) => scanMaster(master, whole, foundThere, signal)));
}

async function scanMaster(
  master: Master,
  pattern: string,
  found: (keys: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let cursor = "0";
  do {
    const began = performance.now();
    const step = master.command(["SCAN", cursor, "MATCH", pattern, "COUNT", stepSize]);
    const [next, keys] = (await within(stepWithinMs, step)) as [unknown, unknown];
    if (signal.aborted) return;
    cursor = String(next);
    found(textsOf(keys));
    const tookMs = performance.now() - began;
    if (tookMs > unhurriedMs) await pause(Math.min(tookMs - unhurriedMs, longestPauseMs), signal);
  } while (cursor !== "0" && !signal.aborted);
}
