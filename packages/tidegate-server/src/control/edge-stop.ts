import type { SetMode } from "../data.js";
import type { EdgeMode } from "../edge.js";

/** Whether a guard keeps an edge in shadow, or a person has told it not to. */
export interface EdgeStop {
  readonly stopped?: { readonly why: string; readonly at: number };
  /** A person said `on` in spite of it: the guard does not speak before this. */
  readonly overriddenUntil?: number;
}

/** Once it has been quiet for so long, a guard that was overridden speaks again. */
const quietMs = 600_000;

/** What a guard found, and what people said, taken together. Pure. */
export function nextStop(
  stop: EdgeStop,
  found: { readonly wrong: string | undefined; readonly set: SetMode | undefined; readonly now: number },
): EdgeStop {
  const { wrong, set, now } = found;
  const hasSpoken = stop.stopped !== undefined && set !== undefined && set.at >= stop.stopped.at;
  if (hasSpoken) return set.mode === "on" ? { overriddenUntil: now + quietMs } : {};
  if (stop.stopped !== undefined) return stop;
  const isOverridden = stop.overriddenUntil !== undefined && stop.overriddenUntil > now;
  if (wrong === undefined) return isOverridden ? stop : {};
  return isOverridden ? { overriddenUntil: now + quietMs } : { stopped: { why: wrong, at: now } };
}

/** What an edge is to do: as people set it, but no more than shadow while it is stopped. */
export function modeUnder(stop: EdgeStop, set: SetMode | undefined): EdgeMode {
  const mode = set?.mode ?? "on";
  return mode === "on" && stop.stopped !== undefined ? "shadow" : mode;
}
