import type { RefusedKey } from "../edge.js";

/** Keys an edge refused for their own sake: they are left alone for a while, then tried again. */
export interface Quarantine {
  add(refused: readonly RefusedKey[], now: number): void;
  keys(now: number): ReadonlySet<string>;
  /** The latest, not all of many. */
  list(): RefusedKey[];
}

const stayMs = 600_000;
/** Those who came first go first. */
const mostKept = 10_000;
const mostListed = 200;

export function openQuarantine(): Quarantine {
  const kept = new Map<string, { readonly why: string; readonly until: number }>();
  return {
    add(refused, now) {
      for (const { key, why } of refused) {
        kept.delete(key);
        kept.set(key, { why, until: now + stayMs });
      }
      for (const key of kept.keys()) {
        if (kept.size <= mostKept) break;
        kept.delete(key);
      }
    },
    keys(now) {
      for (const [key, { until }] of kept) if (until <= now) kept.delete(key);
      return new Set(kept.keys());
    },
    list: () => [...kept].slice(-mostListed).map(([key, { why }]) => ({ key, why })),
  };
}
