import { type Duration, parseDuration } from "tidegate";
import { usageError } from "./exit.js";

/** `2h` is two hours ago; otherwise a date or a time. Milliseconds since the epoch. */
export function momentOf(flag: string, text: string | undefined, now = Date.now()): number | undefined {
  if (text === undefined) return undefined;
  if (/^[\d.]+(?:ms|s|m|h|d|w)$/.test(text)) return now - parseDuration(text as Duration, flag);
  const ms = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw usageError(
    `${flag} ${JSON.stringify(text)} is not a time.`,
    "Write how long ago, such as 2h or 7d, or a date such as 2026-01-31T12:00.",
  );
}
