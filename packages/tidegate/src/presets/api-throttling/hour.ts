const hourMs = 3_600_000;

/** The hour of a time as cache keys write it, in UTC: `2009-05-01-12`. */
export function hourStamp(now: number): string {
  return new Date(now).toISOString().slice(0, 13).replace("T", "-");
}

/** Until the next hour begins: above 0, at most an hour. */
export function restOfHourMs(now: number): number {
  return hourMs - (now % hourMs);
}
