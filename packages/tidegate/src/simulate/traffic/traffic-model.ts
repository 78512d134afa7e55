import { hammerer, insider, prober, scraper, slowScraper } from "./abusers.js";
import { bot, bruteForcer, flooder } from "./guessers.js";
import { apiClient, crawler, monitor } from "./machines.js";
import { merge } from "./merge.js";
import { lecture, type Span, student, user } from "./people.js";
import type { Sequence } from "./truth.js";

export interface TrafficModelOptions extends Partial<Cast> {
  readonly seed: number;
  /** Milliseconds since the epoch. Default Monday, 12 January 2026, 8:00 UTC. */
  readonly from?: number;
  /** Default 8. */
  readonly hours?: number;
}

/** How many there are of each. Up to 40 abusers of a kind have addresses of their own. */
export interface Cast {
  /** Default 1000. */
  readonly users: number;
  /** Networks behind one address. Default 1. */
  readonly campuses: number;
  /** In each. Default 300, and a class of 40. */
  readonly browsersPerCampus: number;
  /** Default 4. */
  readonly crawlers: number;
  /** Default 2. */
  readonly monitors: number;
  /** Default 6. */
  readonly apiClients: number;
  /** Default 5. */
  readonly scrapers: number;
  /** Scrapers on a campus, one on each as far as there are campuses. Default 1. */
  readonly insiders: number;
  /** Default 4. */
  readonly probers: number;
  /** Default 4. */
  readonly bruteForcers: number;
  /** Default 3. */
  readonly hammerers: number;
  /** Default 2. */
  readonly flooders: number;
  /** Hard: default 2. */
  readonly slowScrapers: number;
  /** Hard, of one botnet: default 60. */
  readonly bots: number;
}

const usual: Cast = {
  users: 1000,
  campuses: 1,
  browsersPerCampus: 300,
  crawlers: 4,
  monitors: 2,
  apiClients: 6,
  scrapers: 5,
  insiders: 1,
  probers: 4,
  bruteForcers: 4,
  hammerers: 3,
  flooders: 2,
  slowScrapers: 2,
  bots: 60,
};
const seats = 40;

/**
 * Traffic of a site as a log would have it, of which the truth is known: each request says who sent it and whether that is
 * abuse. In the order of time, one by one; the same seed and options give the same requests. Nobody reacts to a refusal.
 */
export function* trafficModel(options: TrafficModelOptions): Sequence {
  const { seed, from = Date.UTC(2026, 0, 12, 8), hours = 8, ...given } = options;
  const cast = { ...usual, ...given };
  const to = from + hours * 3_600_000;
  for (const request of merge(everybody({ seed, from, to }, cast))) {
    if (request.at >= to) return;
    yield request;
  }
}

function* everybody(span: Span, cast: Cast): Generator<Sequence> {
  const kinds: readonly [count: number, kind: (span: Span, index: number) => Sequence][] = [
    [cast.users, user],
    [cast.crawlers, crawler],
    [cast.monitors, monitor],
    [cast.apiClients, apiClient],
    [cast.scrapers, scraper],
    [Math.min(cast.insiders, cast.campuses), insider],
    [cast.probers, prober],
    [cast.bruteForcers, bruteForcer],
    [cast.hammerers, hammerer],
    [cast.flooders, flooder],
    [cast.slowScrapers, slowScraper],
    [cast.bots, bot],
  ];
  for (const [count, kind] of kinds) for (let index = 0; index < count; index++) yield kind(span, index);
  for (let campus = 0; campus < cast.campuses; campus++) {
    for (let index = 0; index < cast.browsersPerCampus; index++) yield student(span, campus, index);
    if (cast.browsersPerCampus > 0)
      for (let seat = 0; seat < seats; seat++) yield lecture(span, campus, seat);
  }
}
