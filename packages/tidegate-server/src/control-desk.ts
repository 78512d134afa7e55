import type { Subject } from "tidegate";
import type { ClearedKey } from "./data.js";
import type { EdgeMode } from "./edge.js";
import type { Offender } from "./offenders.js";

/** What people ask of control, and tell it. */
export interface ControlDesk {
  edges(): Promise<EdgeStatus[]>;
  /** Waits a little for the edge to be told; `applied` says whether it was. Undefined: there is no such edge. */
  setMode(edge: string, mode: EdgeMode, by: { who: string; why?: string }): Promise<EdgeStatus | undefined>;
  /** Sets edges right now, or says what that would be; of one edge, or of all. Undefined: there is no such edge. */
  sync(options: { edge?: string; isDryRun: boolean }): Promise<SyncReport[] | undefined>;
  offenders(): Promise<Offender[]>;
  /** Offenders of this client: by its address, whatever the rule. */
  find(client: Meant): Promise<Offender[]>;
  /** Those of them that this very request would meet, as far as the facts tell. */
  meets(subject: Partial<Subject>, offenders: readonly Offender[]): Offender[];
  /** How each of them stands at each edge it goes to. */
  standings(offenders: readonly Offender[]): Promise<EdgeStanding[][]>;
  /** Under which of its keys, or of blocks it is in, this client was cleared by hand and goes to no edge. */
  clears(client: Meant): Promise<ClearedKey[]>;
  /** Takes this client off every edge, and keeps it off for the hold-off; answers whom. */
  clear(client: Meant, by: { who: string }): Promise<Offender[]>;
}

/** A client by what is known of it, or by the very key it stands under. */
export type Meant = Partial<Subject> & { readonly key?: string };

/** One offender at one edge. */
export interface EdgeStanding {
  readonly edge: string;
  /**
   * `held`: the edge refuses it. `shadow`, `off`: it stands there, and the edge refuses nobody. `waiting`: the edge is to know of it and was not told
   * yet. `leaving`: cleared, and the edge was not told yet. `hold-off`: cleared, and goes to no edge until then. `spared`: it goes to no edge.
   * `unknowable`: the edge knows no client by such a key. `evicted`: the edge is full of worse ones. `quarantined`: the edge does not take the key.
   */
  readonly state:
    | "held"
    | "shadow"
    | "off"
    | "waiting"
    | "leaving"
    | "hold-off"
    | "spared"
    | "unknowable"
    | "evicted"
    | "quarantined";
  /** Of a hold-off: when it ends. */
  readonly until?: number;
  /** What spares it, why the edge does not take it, or what it waits for. */
  readonly why?: string;
}

/** How one edge is, as whoever keeps it last saw it. */
export interface EdgeStatus {
  readonly edge: string;
  readonly kind: string;
  /** What people set, else on. */
  readonly mode: EdgeMode;
  /** How the edge stood when it was last read or told; undefined: nobody has seen it yet. */
  readonly standsAt?: EdgeMode;
  /** It stands as people set it, and whoever keeps it reached it at the last look. */
  readonly applied: boolean;
  /** Why new entries are withheld from it though nobody said so. What stood there before stays, and is refused on. */
  readonly stopped?: string;
  readonly setBy?: { readonly who: string; readonly why?: string; readonly at: number };
  /** Undefined: whoever keeps it could not reach it. */
  readonly state?: "in step" | "behind" | "nobody keeps it";
  readonly entries?: number;
  readonly foreign?: number;
  readonly maxEntries: number;
  /** Changes still to be made. */
  readonly pending?: number;
  /** Changes a guard withholds until a person says `on`. */
  readonly withheld?: number;
  readonly quarantined: readonly { readonly key: string; readonly why: string }[];
  /** Held clients that do not fit, or that this edge can not know. */
  readonly evicted: number;
  readonly unknowable: number;
  readonly alarms: readonly string[];
  /** When it was last read, and last failed; milliseconds since the epoch. */
  readonly readAt?: number;
  readonly problem?: { readonly at: number; readonly message: string; readonly code?: string };
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
  /** The process that keeps this edge, where it is another one: that one sets it right at its next look. */
  readonly keeper?: string;
  /** What went wrong, if something did. */
  readonly problem?: string;
}
