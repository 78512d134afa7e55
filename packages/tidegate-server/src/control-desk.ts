import type { Subject } from "tidegate";
import type { ClearedKey } from "./data.js";
import type { EdgeMode } from "./edge.js";
import type { Offender } from "./offenders.js";

/** What people ask of control, and tell it. */
export interface ControlDesk {
  edges(): Promise<EdgeStatus[]>;
  /** Undefined: there is no such edge. */
  setMode(edge: string, mode: EdgeMode, by: { who: string; why?: string }): Promise<EdgeStatus | undefined>;
  /** Sets edges right now, or says what that would be; of one edge, or of all. Undefined: there is no such edge. */
  sync(options: { edge?: string; isDryRun: boolean }): Promise<SyncReport[] | undefined>;
  offenders(): Promise<Offender[]>;
  /** Offenders of this client: by its address, whatever the rule. */
  find(subject: Partial<Subject>): Promise<Offender[]>;
  /** Under which of its keys, or of blocks it is in, this client was cleared by hand and goes to no edge. */
  clears(subject: Partial<Subject>): Promise<ClearedKey[]>;
  /** Takes this client off every edge, and keeps it off for the hold-off; answers whom. */
  clear(subject: Partial<Subject>, by: { who: string }): Promise<Offender[]>;
}

/** How one edge is, as whoever keeps it last saw it. */
export interface EdgeStatus {
  readonly edge: string;
  readonly kind: string;
  /** What people set, else on. */
  readonly mode: EdgeMode;
  /** Why it stands in shadow though nobody said so. */
  readonly stopped?: string;
  readonly setBy?: { readonly who: string; readonly why?: string; readonly at: number };
  /** Undefined: nobody could reach it. */
  readonly state?: "in step" | "behind";
  readonly entries?: number;
  readonly foreign?: number;
  readonly maxEntries: number;
  /** Changes still to be made. */
  readonly pending?: number;
  readonly quarantined: readonly { readonly key: string; readonly why: string }[];
  /** Held clients that do not fit, or that this edge can not know. */
  readonly evicted: number;
  readonly unknowable: number;
  readonly alarms: readonly string[];
  /** When it was last read, and last failed; milliseconds since the epoch. */
  readonly readAt?: number;
  readonly problem?: { readonly at: number; readonly message: string };
  /** From crossing to applied, of the last thousand. */
  readonly applyMs?: { readonly p50: number; readonly p99: number };
  /** From applied to seen by the canary. */
  readonly propagationMs?: number;
  /** Entries found wrong at the last full look, before it was set right. */
  readonly drift?: number;
  /** Which process keeps it. */
  readonly keeper?: string;
}

export interface SyncReport {
  readonly edge: string;
  readonly put: readonly { readonly key: string; readonly until: number; readonly rule: string }[];
  readonly remove: readonly string[];
  readonly isDryRun: boolean;
  /** The process that keeps this edge, where it is out of this one's reach: that one sets it right at its next look. */
  readonly keeper?: string;
  /** What went wrong, if something did. */
  readonly problem?: string;
}
