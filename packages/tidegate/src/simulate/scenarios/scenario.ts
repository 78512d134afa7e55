import type { LimitSpec } from "./limit-spec.js";

/** Traffic and the limits that judge it, as plain data. All times are seconds from the start, all rates calls per second. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** What it shows, in a sentence or two. */
  readonly about: string;
  /** When it ends. */
  readonly seconds: number;
  readonly clients: readonly SimulatedClient[];
  /** Each judges the same traffic, alone. */
  readonly limits: readonly ComparedLimit[];
  /** What a plot of it shows: estimates, or calls sent and let in, with a panel for each limit or for each client. */
  readonly plot?: "estimates" | "calls-by-limit" | "calls-by-client";
  /** When estimates are read for a table, before the call of that instant if there is one. */
  readonly readAt?: readonly number[];
  /** On the first client's line. */
  readonly marks?: readonly ScenarioMark[];
}

export interface SimulatedClient {
  readonly name: string;
  /** So many of them, each counted by itself. Default 1. */
  readonly count?: number;
  /** Of the chance in `"poisson"`, and of when each of many begins. Default 1. */
  readonly seed?: number;
  readonly phases: readonly Phase[];
}

export interface Phase {
  readonly from: number;
  /** No call is sent at this time any more. */
  readonly to: number;
  /** On average; 0 is silence. */
  readonly rate: number;
  /** Default `"steady"`. */
  readonly pattern?: TrafficPattern;
  /** `"burst-and-wait"`: so many calls, then none until the average is back at `rate`. */
  readonly burst?: number;
  /** A burst is spread over so many seconds. Default 0: at once. */
  readonly burstSeconds?: number;
}

export type TrafficPattern = "steady" | "burst-and-wait" | "poisson";

export interface ComparedLimit {
  /** Default: the limit in words. */
  readonly name?: string;
  readonly limit: LimitSpec;
  /** All clients are counted as one, as by network or path. Default: each by itself. */
  readonly isShared?: boolean;
}

export interface ScenarioMark {
  readonly at: number;
  readonly label: string;
  /** On which side of the point the label stands. Default right. */
  readonly side?: "left" | "right";
}
