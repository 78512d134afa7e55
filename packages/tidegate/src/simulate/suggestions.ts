import type { Verdict } from "../decision.js";
import { ConfigError, shown } from "../errors.js";
import type { KeyId } from "./key-id.js";
import { Peaks } from "./peaks.js";
import { durationText, readable } from "./readable.js";
import type { Suggestion, SuggestOptions } from "./rehearsal.js";

/** One limit of a rule, as its verdicts tell it. */
interface Level {
  readonly rule: string;
  readonly limit: string;
  readonly windowMs: number;
  readonly peaks: Peaks;
}

/** Limits by the traffic's own distribution: the peak of one client among many, and some room above it. */
export interface Suggestions {
  /** What this verdict was asked about, charged or not. */
  count(rule: string, verdict: Verdict, id: KeyId): void;
  report(): Suggestion[];
  readonly isEstimated: boolean;
}

export function suggestions(options: SuggestOptions): Suggestions {
  const { percentile = 0.999, headroom = 1.5 } = options;
  if (!(percentile > 0 && percentile <= 1)) throw notANumber("percentile", percentile, "from above 0 to 1");
  if (!(headroom > 0 && headroom < Number.POSITIVE_INFINITY))
    throw notANumber("headroom", headroom, "above 0");
  const levels = new Map<string, Level>();

  function open({ limit, windowMs }: Verdict, rule: string): Level {
    return { rule, limit: rateText(limit, windowMs), windowMs, peaks: new Peaks(windowMs) };
  }

  function report({ rule, limit, windowMs, peaks }: Level): Suggestion {
    const { byClient, byWindow } = peaks.histograms();
    const peak = byClient.percentile(percentile);
    const suggested = readable(peak * headroom);
    const { excess } = byWindow.above(suggested);
    const { count } = byClient.above(suggested);
    const share = `${Number((percentile * 100).toPrecision(6))} %`;
    return {
      rule,
      limit,
      suggested: rateText(suggested, windowMs),
      refused: Math.round(excess),
      refusedClients: count,
      words:
        `${share} of ${byClient.count.toLocaleString("en")} clients never asked for more than ` +
        `${Math.ceil(peak).toLocaleString("en")} in ${durationText(windowMs)}; with ${headroom} times that, ` +
        `${count === 0 ? "nobody" : `${count.toLocaleString("en")} of them`} would have been refused.`,
    };
  }

  return {
    count(rule, verdict, id) {
      let level = levels.get(verdict.name);
      if (level === undefined) {
        level = open(verdict, rule);
        levels.set(verdict.name, level);
      }
      level.peaks.count(id.low, id.high, verdict.at, verdict.cost);
    },
    report: () => [...levels.values()].map(report),
    get isEstimated() {
      return [...levels.values()].some(({ peaks }) => peaks.isEstimated);
    },
  };
}

function rateText(limit: number, windowMs: number): string {
  return `${Number(limit.toPrecision(6))} per ${durationText(windowMs)}`;
}

function notANumber(option: keyof SuggestOptions, value: unknown, wanted: string): ConfigError {
  return new ConfigError(
    "TG_NUMBER",
    `openRehearsal.suggest.${option}`,
    `${shown(value)} will not do.`,
    `Write a number ${wanted}.`,
  );
}
