import type { EdgeStatus } from "../control-desk.js";
import type { SetMode } from "../data.js";
import type { RefusedKey } from "../edge.js";
import type { EdgeStop } from "./edge-stop.js";

/** What a keeper has seen of its edge. */
export interface Seen {
  readonly edge: string;
  readonly kind: string;
  readonly maxEntries: number;
  readonly keeper: string;
  readonly set: SetMode | undefined;
  readonly stop: EdgeStop;
  readonly isKnown: boolean;
  readonly entries: number;
  readonly foreign: number;
  readonly pending: number;
  readonly quarantined: readonly RefusedKey[];
  readonly evicted: number;
  readonly unknowable: number;
  readonly readAt: number | undefined;
  readonly problem: EdgeStatus["problem"];
  readonly applyMs: EdgeStatus["applyMs"];
  readonly propagationMs: number | undefined;
  readonly drift: number | undefined;
}

/** From this part on an edge is nearly full. */
const nearlyFull = 0.8;

export function keeperStatus(seen: Seen): EdgeStatus {
  const { edge, kind, maxEntries, keeper, set, stop, quarantined, evicted, unknowable } = seen;
  const { entries, foreign, pending, readAt, problem, applyMs, propagationMs, drift } = seen;
  return {
    edge,
    kind,
    mode: set?.mode ?? "on",
    ...(stop.stopped && { stopped: stop.stopped.why }),
    ...(set && { setBy: { who: set.who, at: set.at, ...(set.why !== undefined && { why: set.why }) } }),
    ...(seen.isKnown && {
      state: pending === 0 ? ("in step" as const) : ("behind" as const),
      entries,
      foreign,
      pending,
    }),
    maxEntries,
    quarantined,
    evicted,
    unknowable,
    alarms: alarmsOf(seen),
    ...(readAt !== undefined && { readAt }),
    ...(problem && { problem }),
    ...(applyMs && { applyMs }),
    ...(propagationMs !== undefined && { propagationMs }),
    ...(drift !== undefined && { drift }),
    keeper,
  };
}

function alarmsOf({
  stop,
  entries,
  foreign,
  maxEntries,
  evicted,
  quarantined,
  isKnown,
  problem,
}: Seen): string[] {
  const alarms: string[] = [];
  if (stop.stopped) alarms.push(`Stopped in shadow: ${stop.stopped.why}.`);
  if (entries + foreign >= nearlyFull * maxEntries)
    alarms.push(`Nearly full: at least ${nearlyFull * 100} % of ${maxEntries} places are taken.`);
  if (evicted > 0) alarms.push("Full: held clients do not fit, the worst stay.");
  if (quarantined.length > 0) alarms.push("Keys were refused, and are tried again in ten minutes.");
  if (!isKnown && problem) alarms.push("Out of reach.");
  return alarms;
}
