import { ConfigError, shown } from "./errors.js";

/** Milliseconds since the epoch, 0 or more; fractions are kept. Tests and replay hand in their own. */
export type Clock = () => number;

/** Asked by name each time, so that a test runner's fake time holds here too. */
export const systemClock: Clock = () => Date.now();

/** A clock handed in, which is believed only as far as it tells a time. */
export function checkedClock(clock: Clock, path: string): Clock {
  if (typeof clock !== "function") throw notATime(path, clock);
  return () => {
    const now = clock();
    if (typeof now === "number" && now >= 0 && now < Number.POSITIVE_INFINITY) return now;
    throw notATime(path, now);
  };
}

function notATime(path: string, value: unknown): ConfigError {
  return new ConfigError(
    "TG_CLOCK",
    path,
    `${shown(value)} is not a time.`,
    "Give a function that answers milliseconds since 1970, 0 or more.",
  );
}
