import type { Clock } from "../clock.js";
import { type Duration, parseDuration } from "../duration.js";

/** A clock that stands still until it is told. Hand it to a store as its `clock`. */
export interface VirtualClock extends Clock {
  now(): number;
  advance(duration: Duration): void;
  /** Also backwards. */
  set(ms: number): void;
}

export function virtualClock(startMs = 0): VirtualClock {
  let now = startMs;
  return Object.assign(() => now, {
    now: () => now,
    advance(duration: Duration) {
      now += typeof duration === "number" ? duration : parseDuration(duration, "advance");
    },
    set(ms: number) {
      now = ms;
    },
  });
}
