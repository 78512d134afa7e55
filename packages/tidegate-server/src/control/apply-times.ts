import type { EdgeMeters } from "./edge-meters.js";
import { latestTimes } from "./latest-times.js";
import type { PlannedEntry } from "./plan.js";

/** How long it took from a crossing until the edge had been told. */
export interface ApplyTimes {
  /** Entries that stand there now; answers those that never did before. */
  applied(entries: readonly PlannedEntry[], now: number): PlannedEntry[];
  /** What is no longer wanted counts as new when it comes again. */
  keepOnly(wanted: ReadonlyMap<string, unknown>): void;
  percentiles(): { readonly p50: number; readonly p99: number } | undefined;
}

/** Who crossed longer ago than this waited for something else: an edge that is new, a process that was not there. */
const longestMs = 600_000;

export function openApplyTimes(edge: string, meters: EdgeMeters): ApplyTimes {
  const latest = latestTimes();
  /** Key to when it crossed. An entry filled in again after a loss is not measured twice. */
  const known = new Map<string, number>();
  return {
    applied(entries, now) {
      const fresh = entries.filter(({ isNew, key, crossedAt }) => isNew && known.get(key) !== crossedAt);
      for (const { key, crossedAt } of fresh) {
        known.set(key, crossedAt);
        const tookMs = Math.max(0, now - crossedAt);
        if (tookMs > longestMs) continue;
        latest.add(tookMs);
        meters.applied(edge, tookMs / 1_000);
      }
      return fresh;
    },
    keepOnly(wanted) {
      for (const key of known.keys()) if (!wanted.has(key)) known.delete(key);
    },
    percentiles: latest.percentiles,
  };
}
