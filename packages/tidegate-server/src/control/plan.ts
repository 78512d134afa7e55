import type { EdgeChanges, EdgeEntry } from "../edge.js";
import { byUrgency, type WantedEntry } from "./wanted.js";

/** What must change at an edge, the most urgent first. */
export interface Plan extends EdgeChanges {
  readonly put: readonly PlannedEntry[];
}

export interface PlannedEntry extends EdgeEntry, Pick<WantedEntry, "rule" | "crossedAt" | "share"> {
  /** False: it stands there, with another end. */
  readonly isNew: boolean;
}

export interface PlanOptions {
  readonly wanted: ReadonlyMap<string, WantedEntry>;
  /** Ours as they stand there, key to `until`. */
  readonly current: ReadonlyMap<string, number>;
  /** Cleared by hand: they come first. */
  readonly cleared: ReadonlySet<string>;
  readonly now: number;
  /** Whatever would end within this is put anew, so that it never lapses between two looks. */
  readonly soonMs: number;
}

/** Further apart than this, two ends are made equal at once. */
const farMs = 600_000;
/** Edges round up to whole seconds. */
const secondMs = 1_000;

/**
 * The difference between what is wanted and what stands there. Whoever keeps flooding is held a little longer with each request, so an end is
 * moved only when less than a quarter of what is wanted is left of it: not a write per request, and never a gap. Pure.
 */
export function planFor({ wanted, current, cleared, now, soonMs }: PlanOptions): Plan {
  const byHand: string[] = [];
  const released: string[] = [];
  const ended: string[] = [];
  for (const [key, until] of current) {
    if (wanted.has(key)) continue;
    if (cleared.has(key)) byHand.push(key);
    else if (until > now) released.push(key);
    else ended.push(key);
  }
  const fresh: [string, WantedEntry][] = [];
  const moved: [string, WantedEntry][] = [];
  for (const each of wanted) {
    const until = current.get(each[0]);
    if (until === undefined || until <= now) fresh.push(each);
    else if (isMoved(until, each[1].until, now, soonMs)) moved.push(each);
  }
  return {
    remove: [...byHand, ...released, ...ended],
    put: [...entriesOf(fresh, true), ...entriesOf(moved, false)],
  };
}

function isMoved(until: number, wanted: number, now: number, soonMs: number): boolean {
  const missing = wanted - until;
  if (missing <= 0) return missing <= -2 * secondMs;
  if (missing > farMs) return true;
  const left = until - now;
  return left < soonMs || left < (wanted - now) / 4;
}

function entriesOf(wanted: [string, WantedEntry][], isNew: boolean): PlannedEntry[] {
  return wanted
    .sort(([, a], [, b]) => byUrgency(a, b))
    .map(([key, { until, rule, crossedAt, share }]) => ({ key, until, rule, crossedAt, share, isNew }));
}

/** Changes in pieces an edge takes, the most urgent first. */
export function* batchesOf({ remove, put }: Plan, most: number): Generator<Plan> {
  for (let at = 0; at < remove.length + put.length; at += most) {
    const gone = remove.slice(at, at + most);
    const from = Math.max(0, at - remove.length);
    yield { remove: gone, put: put.slice(from, from + most - gone.length) };
  }
}
