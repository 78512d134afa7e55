import type { Verdict } from "../decision.js";
import { ConfigError, shown } from "../errors.js";
import type { Policy } from "../gate.js";
import type { KeyId } from "./key-id.js";
import { Peaks } from "./peaks.js";
import { durationText, readable } from "./readable.js";
import type { Suggestion, SuggestOptions } from "./rehearsal.js";

/** One limit of a rule, as its verdicts tell it. */
interface Level {
  readonly rule: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly peaks: Peaks;
}

/**
 * Limits by the traffic's own distribution: the peak of one client among many, and some room above it. Whoever is refused most
 * of what he asks for has no say in it, as long as few are.
 */
export interface Suggestions {
  /** What this verdict was asked about, charged or not, and whether the policy refused the request. */
  count(rule: string, verdict: Verdict, id: KeyId, isRefused: boolean): void;
  report(): Suggestion[];
  readonly isEstimated: boolean;
}

/** Of fewer clients nothing can be learnt. */
const fewest = 100;
/** No limit is raised for so few: they may be whom it is for. */
const busiest = 3;
/** Where a limit refused a larger share of clients most of their requests, it may be too low for ordinary ones. */
const manyRefused = 0.25;
/** Then they are counted too, but not the busiest twentieth. */
const ofAll = 0.95;

export function suggestions(options: SuggestOptions, { rules }: Policy): Suggestions {
  const { percentile = 0.999, headroom = 1.5 } = options;
  if (!(percentile > 0 && percentile <= 1)) throw notANumber("percentile", percentile, "from above 0 to 1");
  if (!(headroom > 0 && headroom < Number.POSITIVE_INFINITY))
    throw notANumber("headroom", headroom, "above 0");
  const levels = new Map<string, Level>();
  const guarded = new Set(rules.filter(isAgainstGuessers).map(({ name }) => name));

  function open({ limit, windowMs }: Verdict, rule: string): Level {
    return { rule, limit, windowMs, peaks: new Peaks(windowMs) };
  }

  function report({ rule, limit, windowMs, peaks }: Level): Suggestion {
    const { byClient, refusedHere, refusedElsewhere, byWindow } = peaks.histograms();
    const all = byClient.plus(refusedHere).plus(refusedElsewhere);
    const isStrict = refusedHere.count > (byClient.count + refusedHere.count) * manyRefused;
    const counted = isStrict ? byClient.plus(refusedHere) : byClient;
    const { count } = counted;
    const aside = asideOf(all.count - count, isStrict ? refusedHere.count : 0);
    const now = { rule, limit: rateText(limit, windowMs) };
    const none = (why: string): Suggestion => ({ ...now, words: `None: ${why}.${aside}` });
    if (count < fewest) return none(`it would stand on ${clients(count)}, and takes ${fewest} at least`);
    let share = Math.min(percentile, isStrict ? ofAll : 1);
    if (readable(counted.percentile(share) * headroom) > limit) {
      if (guarded.has(rule)) return none("a rule against guessing is not raised by what was tried");
      share = Math.min(share, (count - busiest) / count);
    }
    const peak = counted.percentile(share);
    const suggested = readable(peak * headroom);
    if (share < percentile && !isStrict && suggested <= limit)
      return none(`of ${clients(count)} only the busiest come near it, and it is not raised for so few`);
    const above = counted.above(suggested).count;
    return {
      ...now,
      suggested: rateText(suggested, windowMs),
      refused: Math.round(byWindow.above(suggested).excess),
      refusedClients: all.above(suggested).count,
      words:
        `${percent(share)} of ${clients(count)} never asked for more than ` +
        `${Math.ceil(peak).toLocaleString("en")} in ${durationText(windowMs)}; with ${headroom} times that, ` +
        `${above === 0 ? "none" : above.toLocaleString("en")} of them would have been refused.${aside}`,
    };
  }

  return {
    count(rule, verdict, id, isRefused) {
      let level = levels.get(verdict.name);
      if (level === undefined) {
        level = open(verdict, rule);
        levels.set(verdict.name, level);
      }
      const { at, cost, allowed } = verdict;
      level.peaks.count(id.low, id.high, at, cost, allowed ? (isRefused ? "another" : "nobody") : "this");
    },
    report: () => [...levels.values()].map(report),
    get isEstimated() {
      return [...levels.values()].some(({ peaks }) => peaks.isEstimated);
    },
  };
}

/** It counts what failed, or by the name somebody claims. */
function isAgainstGuessers({ count = "all", by }: Policy["rules"][number]): boolean {
  return count !== "all" || [by].flat().includes("account");
}

function clients(count: number): string {
  return `${count.toLocaleString("en")} client${count === 1 ? "" : "s"}`;
}

/** Who was refused most of its requests: left out, or counted where the limit itself may be at fault. */
function asideOf(leftOut: number, refusedHere: number): string {
  return [
    leftOut > 0 ? ` Left out, with more than half of their requests refused: ${clients(leftOut)}.` : "",
    refusedHere > 0
      ? ` The limit as it is refuses more than half of the requests of ${clients(refusedHere)} among them: it may be too low, or they are unwanted.`
      : "",
  ].join("");
}

/** Rounded down: never more than it is. */
function percent(share: number): string {
  return `${Math.floor(Number((share * 1000).toPrecision(6))) / 10} %`;
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
