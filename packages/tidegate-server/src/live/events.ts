import type { EdgeStatus } from "../control-desk.js";
import type { AuditEntry } from "../data.js";
import type { BusyClient } from "./series.js";

/** What is sent under each name. */
export interface LiveEvents {
  /** Every second: what was decided in the second that began `at`. */
  rates: RatesEvent;
  /** Every two seconds. */
  busiest: { readonly clients: readonly BusyClient[] };
  /** When somebody is held or let go: how many, and the newest, as `GET /v1/offenders` tells of them. */
  held: { readonly count: number; readonly newest: readonly unknown[] };
  /** When the status of an edge changed; when it was last looked at is no change. */
  edges: { readonly edges: readonly EdgeStatus[] };
  /** When it changed. */
  store: StoreEvent;
  /** Every entry, under its own number as the event's id. */
  audit: AuditEntry;
  /** Entries of the audit that are too many to be sent again: to be read page by page. */
  missed: { readonly after: number; readonly before: number };
  /** When another policy is in force, or something stands in its way: as in `GET /v1/status`. */
  policy: { readonly version: number };
  /** The last one, and why. */
  bye: { readonly reason: "slow" | "ending" | "not allowed"; readonly message: string };
}

export interface RatesEvent {
  readonly at: number;
  readonly stepMs: number;
  readonly totals: Readonly<Record<"allowed" | "refused" | "shadow", number>>;
  /** Rules that had something to do. */
  readonly rules: Readonly<
    Record<string, Readonly<Record<"judged" | "refused" | "shadow" | "held", number>>>
  >;
}

export interface StoreEvent {
  readonly kind: string;
  /** Counts go on without it, in each process for itself. */
  readonly isDegraded: boolean;
  readonly data: { readonly kind: string; readonly isReachable: boolean };
}

/** As it goes over the wire. */
export function eventText<Name extends keyof LiveEvents>(
  name: Name,
  data: LiveEvents[Name],
  id?: number,
): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
