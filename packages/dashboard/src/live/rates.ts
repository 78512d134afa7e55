import type { SeriesAnswer, StatusAnswer } from "../types.ts";

/** Per second, over the time since the point before. */
export interface Rates {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly allowed: number;
  readonly refused: number;
  readonly shadow: number;
  readonly byRule: Readonly<Record<string, RuleRates>>;
}

export interface RuleRates {
  readonly judged: number;
  readonly refused: number;
  readonly shadow: number;
}

type Counts = Pick<StatusAnswer["metrics"], "allowed" | "refused" | "byRule">;

export interface Counted {
  readonly at: number;
  readonly counts: Counts;
}

/** What happened per second between two counts; undefined when the server began anew between them. */
export function ratesBetween(before: Counted, after: Counted): Rates | undefined {
  const seconds = (after.at - before.at) / 1000;
  const grown = (now: number, then = 0): number => (now - then) / seconds;
  if (seconds <= 0 || after.counts.allowed < before.counts.allowed) return undefined;
  if (after.counts.refused < before.counts.refused) return undefined;
  const byRule = Object.fromEntries(
    Object.entries(after.counts.byRule).map(([rule, now]) => {
      const then = before.counts.byRule[rule];
      return [
        rule,
        {
          judged: Math.max(0, grown(now.judged, then?.judged)),
          refused: Math.max(0, grown(now.refused, then?.refused)),
          shadow: Math.max(0, grown(now.shadowRefused, then?.shadowRefused)),
        },
      ];
    }),
  );
  return {
    at: after.at,
    allowed: grown(after.counts.allowed, before.counts.allowed),
    refused: grown(after.counts.refused, before.counts.refused),
    shadow: Object.values(byRule).reduce((sum, { shadow }) => sum + shadow, 0),
    byRule,
  };
}

/** What the server counted, second by second. */
export function ratesOfSeries({ from, since, stepMs, totals, rules }: SeriesAnswer): Rates[] {
  const points = totals.allowed.map((allowed, second) => ({
    at: from + second * stepMs,
    allowed,
    refused: totals.refused[second] ?? 0,
    shadow: totals.shadow[second] ?? 0,
    byRule: Object.fromEntries(
      Object.entries(rules).map(([rule, { judged, refused, shadow }]) => [
        rule,
        { judged: judged[second] ?? 0, refused: refused[second] ?? 0, shadow: shadow[second] ?? 0 },
      ]),
    ),
  }));
  return points.filter(({ at }) => at >= since);
}

/** One second of it, as the event `rates` tells it. */
export interface RatesTold {
  readonly at: number;
  readonly stepMs: number;
  readonly totals: Readonly<Record<"allowed" | "refused" | "shadow", number>>;
  readonly rules: Readonly<Record<string, RuleRates>>;
}

export function ratesOfEvent({ at, stepMs, totals, rules }: RatesTold): Rates {
  const per = (counted: number): number => (counted * 1000) / stepMs;
  return {
    at,
    allowed: per(totals.allowed),
    refused: per(totals.refused),
    shadow: per(totals.shadow),
    byRule: Object.fromEntries(
      Object.entries(rules).map(([rule, own]) => [
        rule,
        { judged: per(own.judged), refused: per(own.refused), shadow: per(own.shadow) },
      ]),
    ),
  };
}
