import { type EarrrlOptions, earrrl } from "../../algorithms/earrrl/earrrl.js";
import { type FixedWindowOptions, fixedWindow } from "../../algorithms/fixed-window/fixed-window.js";
import {
  type SlidingCounterOptions,
  slidingCounter,
} from "../../algorithms/sliding-counter/sliding-counter.js";
import { type SlidingLogOptions, slidingLog } from "../../algorithms/sliding-log/sliding-log.js";
import { type TokenBucketOptions, tokenBucket } from "../../algorithms/token-bucket/token-bucket.js";
import { type Duration, parseDuration, parseRate, type RateText } from "../../duration.js";
import { ConfigError, shown } from "../../errors.js";
import type { Limit } from "../../limit.js";

/** A limit as data, as policies in files write it: one key, the name of its factory. */
export type LimitSpec =
  | { readonly earrrl: EarrrlOptions }
  | { readonly fixedWindow: FixedWindowOptions }
  | { readonly slidingLog: SlidingLogOptions }
  | { readonly slidingCounter: SlidingCounterOptions }
  | { readonly tokenBucket: TokenBucketOptions };

/** Numbers that stand in for a scenario's own. */
export interface LimitSettings {
  /** Calls per second. Windows keep their length, buckets their burst. */
  readonly rate?: number;
  readonly halfLife?: Duration;
  readonly overage?: number;
}

export function limitOf(spec: LimitSpec): Limit {
  if ("earrrl" in spec) return earrrl(spec.earrrl);
  if ("fixedWindow" in spec) return fixedWindow(spec.fixedWindow);
  if ("slidingLog" in spec) return slidingLog(spec.slidingLog);
  if ("slidingCounter" in spec) return slidingCounter(spec.slidingCounter);
  return tokenBucket(spec.tokenBucket);
}

export function withSettings(spec: LimitSpec, { rate, halfLife, overage }: LimitSettings): LimitSpec {
  if ("earrrl" in spec)
    return {
      earrrl: {
        ...spec.earrrl,
        ...(rate !== undefined && { rate }),
        ...(halfLife !== undefined && { halfLife }),
        ...(overage !== undefined && { overage }),
      },
    };
  if (rate === undefined) return spec;
  const inWindow = (window: Duration) =>
    Math.max(1, Math.round((rate * parseDuration(window, "window")) / 1000));
  if ("fixedWindow" in spec)
    return { fixedWindow: { ...spec.fixedWindow, limit: inWindow(spec.fixedWindow.window) } };
  if ("slidingLog" in spec)
    return { slidingLog: { ...spec.slidingLog, limit: inWindow(spec.slidingLog.window) } };
  if ("slidingCounter" in spec)
    return { slidingCounter: { ...spec.slidingCounter, limit: inWindow(spec.slidingCounter.window) } };
  return { tokenBucket: { rate, per: "1s", burst: spec.tokenBucket.burst } };
}

/** `"fixed-window"`, `"sliding-log 100 per 1m"`, or a rate alone, which is a fixed window. What is not written follows from the settings. */
export function limitOfText(text: string, settings: LimitSettings = {}): LimitSpec {
  const { rate = 1, halfLife = "10s", overage } = settings;
  const [, kind = "fixed-window", numbers] = /^(?:([a-z-]+)(?:\s+|$))?(.+)?$/.exec(text.trim()) ?? [];
  const { amount, perMs } =
    numbers === undefined
      ? { amount: Math.max(1, rate * 10), perMs: 10_000 }
      : parseRate(numbers as RateText, "limit");
  const windowed = { limit: amount, window: perMs };
  if (kind === "earrrl") {
    const perSecond = numbers === undefined ? rate : (amount * 1000) / perMs;
    return { earrrl: { rate: perSecond, halfLife, ...(overage !== undefined && { overage }) } };
  }
  if (kind === "fixed-window") return { fixedWindow: windowed };
  if (kind === "sliding-log") return { slidingLog: windowed };
  if (kind === "sliding-counter") return { slidingCounter: windowed };
  if (kind === "token-bucket") return { tokenBucket: { rate: amount, per: perMs, burst: amount } };
  throw new ConfigError(
    "TG_SCENARIO",
    "limit",
    `${shown(kind)} is no limit that can be compared.`,
    "Write earrrl, fixed-window, sliding-log, sliding-counter or token-bucket, with a rate behind it if you like: sliding-log 100 per 1m.",
  );
}

/** Of a rate as limits take it: a number, or a text such as `"30 per minute"`. */
export function callsPerSecond(rate: number | RateText, path: string): number {
  if (typeof rate === "number") return rate;
  const { amount, perMs } = parseRate(rate, path);
  return (amount * 1000) / perMs;
}

/** `"EARRRL, 1 per second, half-life 20 s"`. */
export function limitWords(spec: LimitSpec): string {
  if ("earrrl" in spec) {
    const { rate, halfLife, overage } = spec.earrrl;
    const words = `EARRRL, ${number(callsPerSecond(rate, "rate"))} per second, half-life ${span(halfLife)}`;
    return overage === undefined || overage === 1 ? words : `${words}, overage ${number(overage)}`;
  }
  if ("tokenBucket" in spec) {
    const { rate, per, burst } = spec.tokenBucket as {
      rate: number | RateText;
      per?: Duration;
      burst: number;
    };
    const { amount, perMs } =
      typeof rate === "string"
        ? parseRate(rate, "rate")
        : { amount: rate, perMs: parseDuration(per ?? "1s", "per") };
    return `Token bucket, ${number(amount)} per ${span(perMs)}, burst ${number(burst)}`;
  }
  const [name, { limit, window }] =
    "fixedWindow" in spec
      ? (["Fixed window", spec.fixedWindow] as const)
      : "slidingLog" in spec
        ? (["Sliding log", spec.slidingLog] as const)
        : (["Sliding counter", spec.slidingCounter] as const);
  return `${name}, ${number(limit)} per ${span(window)}`;
}

function number(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function span(duration: Duration): string {
  const seconds = parseDuration(duration, "duration") / 1000;
  return `${number(seconds)} s`;
}
