import type { EdgeStatus } from "../control-desk.js";
import type { SetMode } from "../data.js";
import type { EdgeMode, RefusedKey } from "../edge.js";
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
  /** As the edge was last read or told. */
  readonly standsAt: EdgeMode | undefined;
  readonly entries: number;
  readonly foreign: number;
  readonly pending: number;
  readonly withheld: number;
  /** The index of offenders lately let some go for want of room. */
  readonly isOverfull: boolean;
  readonly quarantined: readonly RefusedKey[];
  readonly evicted: number;
  readonly unknowable: number;
  readonly readAt: number | undefined;
  readonly problem: EdgeStatus["problem"];
  /** Of whom the problem is. */
  readonly failing: "edge" | "data";
  /** What the edge itself wants people to look at. */
  readonly trouble: string | undefined;
  readonly applyMs: EdgeStatus["applyMs"];
  readonly propagationMs: number | undefined;
  readonly drift: number | undefined;
}

/** From this part on an edge is nearly full. */
const nearlyFull = 0.8;

export function keeperStatus(seen: Seen): EdgeStatus {
  const { edge, kind, maxEntries, keeper, set, stop, standsAt, quarantined, evicted, unknowable } = seen;
  const { entries, foreign, pending, withheld, readAt, problem, applyMs, propagationMs, drift } = seen;
  return {
    edge,
    kind,
    mode: set?.mode ?? "on",
    ...(standsAt && { standsAt }),
    applied: seen.isKnown && standsAt === (set?.mode ?? "on"),
    ...(stop.stopped && { stopped: stop.stopped.why }),
    ...(set && { setBy: { who: set.who, at: set.at, ...(set.why !== undefined && { why: set.why }) } }),
    ...(seen.isKnown && {
      state: pending + withheld === 0 ? ("in step" as const) : ("behind" as const),
      entries,
      foreign,
      pending,
      ...(stop.stopped && { withheld }),
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
  edge,
  stop,
  entries,
  foreign,
  maxEntries,
  evicted,
  quarantined,
  isKnown,
  problem,
  failing,
  trouble,
  isOverfull,
}: Seen): string[] {
  const alarms: string[] = [];
  if (stop.stopped) alarms.push(`New entries are withheld: ${stop.stopped.why}. ${afterStop(edge)}`);
  if (entries + foreign >= nearlyFull * maxEntries)
    alarms.push(`Nearly full: at least ${nearlyFull * 100} % of ${maxEntries} places are taken.`);
  if (isOverfull) alarms.push("Too many are held: the mildest are forgotten, and go to no edge.");
  if (evicted > 0) alarms.push("Full: held clients do not fit, the worst stay.");
  if (quarantined.length > 0) alarms.push("Keys were refused, and are tried again in ten minutes.");
  if (!isKnown && problem) alarms.push(failing === "data" ? unread : failureWords(problem));
  if (trouble !== undefined) alarms.push(trouble);
  return alarms;
}

const unread = "What is wished of it can not be read.";

/** What a person does about a guard's stop. */
export function afterStop(edge: string): string {
  return `Look at \`tidegate edge offenders\`, then \`tidegate edge on ${edge}\`.`;
}

/** Only what does not answer is out of reach: whatever else is wrong waits for a person. */
function failureWords({ code, message }: NonNullable<EdgeStatus["problem"]>): string {
  switch (code) {
    case undefined:
    case "TG_EDGE_UNREACHED":
      return "Out of reach.";
    case "TG_EDGE_SETUP":
      return `Set up wrongly: ${message}`;
    case "TG_EDGE_DENIED":
      return `Denied: ${message}`;
    default:
      return `Failing: ${message}`;
  }
}
