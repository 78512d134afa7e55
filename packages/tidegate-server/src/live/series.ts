import type { BusyKey } from "tidegate";

/** One number a second. */
export type Row = readonly number[];

/** What was decided lately, second by second. */
export interface Series {
  /** When the first second began; milliseconds since the epoch, as all times. */
  readonly from: number;
  readonly stepMs: 1000;
  /** When counting began: whatever lies before is 0 because nobody counted. */
  readonly since: number;
  /** `shadow`: how often a rule in shadow would have refused; one request may be there twice. */
  readonly totals: Readonly<Record<"allowed" | "refused" | "shadow", Row>>;
  /** Rules of which there is something to tell. `held`: clients it began to hold. */
  readonly rules: Readonly<Record<string, RuleRows>>;
}

export type RuleRows = Readonly<Record<"judged" | "refused" | "shadow" | "held", Row>>;

/** One of the busiest clients, second by second. */
export interface ClientSeries {
  /** As clients are counted: an address, or of IPv6 its block. */
  readonly key: string;
  readonly from: number;
  readonly stepMs: 1000;
  readonly requests: Row;
  readonly refused: Row;
}

/** One of the busiest clients, with its rate where it is followed. */
export interface BusyClient extends BusyKey {
  /** Its requests in the last minute. */
  readonly perMinute?: number;
}

export const stepMs = 1000;

/** So far back decisions are counted by the second, and the busiest clients. */
export const seriesSeconds = 600;
export const clientSeconds = 300;

export const totalNames = ["allowed", "refused", "shadow"] as const;
export const ruleNames = ["judged", "refused", "shadow", "held"] as const;
