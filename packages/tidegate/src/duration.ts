import { ConfigError, shown } from "./errors.js";

type Unit = "ms" | "s" | "m" | "h" | "d" | "w";
type UnitWord = "second" | "minute" | "hour" | "day" | "week";

/** `"250ms"`, `"10s"`, `"5m"`, `"1h"`, `"1d"`, `"1w"`, or milliseconds. */
export type Duration = number | `${number}${Unit}`;

/** `"100 per hour"`, `"300 per 5m"`, `"300 per 5 minutes"`, `"10/day"`. */
export type RateText = `${number} per ${Per}` | `${number}/${Per}`;
type Per = UnitWord | Unit | `${number}${Unit}` | `${number} ${UnitWord}` | `${number} ${UnitWord}s`;

const unitMs: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["second", 1000],
  ["m", 60_000],
  ["minute", 60_000],
  ["h", 3_600_000],
  ["hour", 3_600_000],
  ["d", 86_400_000],
  ["day", 86_400_000],
  ["w", 604_800_000],
  ["week", 604_800_000],
]);

/** Ten years: every state a store keeps has an end. */
const longestMs = 3_650 * 86_400_000;

const durationPattern = /^(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d|w)$/;
const ratePattern =
  /^(\d{1,16}(?:\.\d{1,9})?)(?: per |\/)(?:(\d{1,15}(?:\.\d{1,6})?)(?:(ms|s|m|h|d|w)| (second|minute|hour|day|week)s?)|([a-z]{1,6}))$/;

const durationHelp =
  'Write a number and its unit, such as "250ms", "10s", "5m", "1h", "1d" or "1w", up to ten years; in code whole milliseconds will do too.';

/** Milliseconds of a duration: whole, from 1 ms to ten years. */
export function parseDuration(value: Duration, path: string): number {
  const ms = typeof value === "string" ? durationTextMs(value) : value;
  if (typeof ms !== "number" || !Number.isInteger(ms) || ms < 1 || ms > longestMs) {
    throw new ConfigError("TG_DURATION", path, `${shown(value)} is not a duration.`, durationHelp);
  }
  return ms;
}

function durationTextMs(text: string): number {
  const match = durationPattern.exec(text);
  return match ? wholeMs(Number(match[1]), match[2] as string) : Number.NaN;
}

/** `"1.1s"` is 1100 ms although 1.1 * 1000 is a hair more. */
function wholeMs(amount: number, unit: string): number {
  const ms = amount * (unitMs.get(unit) ?? Number.NaN);
  const whole = Math.round(ms);
  return Math.abs(ms - whole) < 1e-6 ? whole : ms;
}

/** A rate's two numbers: `"300 per 5m"` is 300 in 300,000 ms. */
export interface Rate {
  readonly amount: number;
  readonly perMs: number;
}

export function parseRate(text: RateText, path: string): Rate {
  const match = typeof text === "string" ? ratePattern.exec(text) : null;
  const [, , count, unit, word, alone] = match ?? [];
  const perMs = alone === undefined ? wholeMs(Number(count), unit ?? word ?? "") : unitMs.get(alone);
  if (!match || !perMs) {
    throw new ConfigError(
      "TG_RATE",
      path,
      `${shown(text)} is not a rate.`,
      'Write a text such as "100 per hour", "300 per 5m", "300 per 5 minutes" or "10/day": a number, "per" or "/", and second, minute, hour, day, week, so many of these, or a duration in ms, s, m, h, d, w.',
    );
  }
  return { amount: Number(match[1]), perMs: parseDuration(perMs, path) };
}
