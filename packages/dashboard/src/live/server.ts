import { effect, signal } from "@preact/signals";
import { ask, Problem } from "../ask.ts";
import { session } from "../session.ts";
import type { SeriesAnswer, StatusAnswer } from "../types.ts";
import { hear, isTold } from "./events.ts";
import {
  type Counted,
  type Rates,
  type RatesTold,
  ratesBetween,
  ratesOfEvent,
  ratesOfSeries,
} from "./rates.ts";

/** What the server last said of itself. */
export const status = signal<StatusAnswer | undefined>(undefined);

/** Oldest first, at most ten minutes of them. */
export const history = signal<readonly Rates[]>([]);

const everyMs = 2_000;
const mostPoints = 600;

/** Keeps both fresh for as long as somebody is signed in. */
export function watchServer(): void {
  effect(() => {
    if (!session.value) return undefined;
    const stopStatus = watchStatus();
    const stopRates = hear("rates", (told) => addPoint(ratesOfEvent(told as RatesTold)));
    const series = ask<SeriesAnswer>("GET", "/v1/series");
    series.then(
      (answer) => {
        const points = ratesOfSeries(answer);
        const last = points.at(-1)?.at ?? 0;
        history.value = [...points, ...history.peek().filter(({ at }) => at > last)];
      },
      () => {}, // it begins empty, then
    );
    return () => {
      stopStatus();
      stopRates();
    };
  });
}

function watchStatus(): () => void {
  let last: Counted | undefined;
  async function look(): Promise<void> {
    try {
      const answer = await ask<StatusAnswer>("GET", "/v1/status");
      const counted = { at: Date.now(), counts: answer.metrics };
      const rates = last && ratesBetween(last, counted);
      last = counted;
      status.value = answer;
      if (!isTold.peek() && rates !== undefined) addPoint(rates);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
  void look();
  const timer = setInterval(() => void look(), everyMs);
  const stops = (["store", "policy"] as const).map((name) => hear(name, () => void look()));
  return () => {
    clearInterval(timer);
    for (const stop of stops) stop();
  };
}

function addPoint(rates: Rates): void {
  const points = history.peek();
  if (rates.at > (points.at(-1)?.at ?? 0)) history.value = [...points.slice(1 - mostPoints), rates];
}
