import type { ListEntry, Reason, Source, Verdict } from "tidegate";
import type { OffenderFacts } from "./offenders.js";

/** A refused request, as it is remembered for whoever asks why. */
export interface Refusal {
  /** The decision's, as its client was told it. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly reason: Reason;
  /** The one that decided, if a rule did. */
  readonly verdict?: Verdict;
  readonly verdicts: readonly Verdict[];
  /** The list entry that decided, if a list did. */
  readonly listed?: ListEntry;
  readonly source: Source;
  readonly delayedMs: number;
  readonly about: RefusalFacts;
}

/** Of the refusals that are remembered, those of one address. */
export interface RefusedClient {
  readonly ip: string;
  readonly refused: number;
  /** Of the last of them. */
  readonly at: number;
  readonly about: RefusalFacts;
  /** Those that differ in what was asked for or by whom, newest first: at most 50. */
  readonly lately: readonly RefusedRequest[];
}

/** A request that was refused. */
export interface RefusedRequest {
  readonly at: number;
  readonly about: RefusalFacts;
}

/** Which clients: those within one of these addresses and blocks, or whom a rule counted under this very key. */
export interface ClientFilter {
  /** Canonical. */
  readonly within?: readonly string[];
  readonly key?: string;
}

/** As they were told, cut to 200 characters: hostile until shown to be printable. */
export interface RefusalFacts extends OffenderFacts {
  readonly user?: string;
  readonly customer?: string;
  /** Only where a rule counted by it. */
  readonly account?: string;
}
