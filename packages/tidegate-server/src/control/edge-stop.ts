import type { SetMode } from "../data.js";

/** Whether a guard withholds changes from an edge, or a person has told it not to. */
export interface EdgeStop {
  readonly stopped?: Stopped;
  /** A person said `on` in spite of it: the guard does not speak before this. */
  readonly overriddenUntil?: number;
}

export interface Stopped {
  readonly why: string;
  readonly at: number;
  /** What people had last said then. Whatever is said later is another, by whosever clock. */
  readonly setAt?: number;
  /** Nothing was withheld since. */
  readonly quietSince?: number;
}

/** Once it has been quiet for so long, a guard that was overridden speaks again, and one that withholds nothing any more is done. */
const quietMs = 600_000;

/** What a guard found, and what people said, taken together. Pure. */
export function nextStop(
  stop: EdgeStop,
  found: { readonly wrong: string | undefined; readonly set: SetMode | undefined; readonly now: number },
): EdgeStop {
  const { wrong, set, now } = found;
  const { stopped } = stop;
  if (stopped !== undefined) {
    const isLifted = set?.mode === "on" && set.at !== stopped.setAt;
    return isLifted ? { overriddenUntil: now + quietMs } : stop;
  }
  const isOverridden = stop.overriddenUntil !== undefined && stop.overriddenUntil > now;
  if (wrong === undefined) return isOverridden ? stop : {};
  if (isOverridden) return { overriddenUntil: now + quietMs };
  return { stopped: { why: wrong, at: now, ...(set && { setAt: set.at }) } };
}

/** A stop that has had nothing to withhold for a while is over: nothing of what it was about is left. Pure. */
export function afterQuiet(stop: EdgeStop, withheld: number, now: number): EdgeStop {
  if (stop.stopped === undefined) return stop;
  const { quietSince, ...stopped } = stop.stopped;
  if (withheld > 0) return quietSince === undefined ? stop : { stopped };
  if (quietSince === undefined || quietSince > now) return { stopped: { ...stopped, quietSince: now } };
  return now - quietSince >= quietMs ? {} : stop;
}

/** As it was written down, as far as it can be one of ours. */
export function readStop(written: unknown): EdgeStop {
  const { stopped, overriddenUntil } = (typeof written === "object" && written !== null ? written : {}) as {
    readonly stopped?: Partial<Stopped> | null;
    readonly overriddenUntil?: unknown;
  };
  if (typeof stopped?.why === "string" && Number.isFinite(stopped.at)) return { stopped: stopped as Stopped };
  return Number.isFinite(overriddenUntil) ? { overriddenUntil: overriddenUntil as number } : {};
}

/** Whether it differs by so much that whoever comes next has to know. */
export function isWorthKeeping(stop: EdgeStop, kept: EdgeStop): boolean {
  if (stop.stopped !== undefined || kept.stopped !== undefined)
    return JSON.stringify(stop.stopped) !== JSON.stringify(kept.stopped);
  return Math.abs((stop.overriddenUntil ?? 0) - (kept.overriddenUntil ?? 0)) > quietMs / 10;
}
