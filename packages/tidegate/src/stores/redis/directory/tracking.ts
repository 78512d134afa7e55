import type { Masters } from "./masters.js";
import { type Tracker, type TrackerEvents, trackMaster } from "./tracker.js";

/** All masters, those that come later included. */
export interface Tracking {
  readonly isWhole: boolean;
  readonly isFailing: boolean;
  /** Looks for masters that came or went. */
  refresh(): void;
  stop(): void;
}

export function trackMasters(
  masters: Masters,
  prefixes: readonly string[],
  refusedPauseMs: number,
  events: TrackerEvents,
): Tracking {
  const trackers = new Map<string, Tracker>();
  const { keyPrefix } = masters;
  const tracked = prefixes.map((prefix) => keyPrefix + prefix);
  const withoutPrefix: TrackerEvents = {
    ...events,
    changed: (keys) => events.changed(keys.map((key) => key.slice(keyPrefix.length))),
  };

  function refresh(): void {
    const now = masters.now();
    for (const [id, tracker] of trackers) {
      if (now.some((master) => master.id === id)) continue;
      tracker.stop();
      trackers.delete(id);
    }
    for (const master of now) {
      if (!trackers.has(master.id)) {
        trackers.set(master.id, trackMaster(master, tracked, refusedPauseMs, withoutPrefix));
      }
    }
  }

  refresh();
  return {
    refresh,
    get isWhole() {
      return trackers.size > 0 && [...trackers.values()].every((tracker) => tracker.isArmed);
    },
    get isFailing() {
      return [...trackers.values()].some((tracker) => tracker.isFailing);
    },
    stop() {
      for (const tracker of trackers.values()) tracker.stop();
      trackers.clear();
    },
  };
}
