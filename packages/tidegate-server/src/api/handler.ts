import type { IncomingMessage, ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import type { CustomerRecord, Gate, GateMetrics } from "tidegate";
import type { ControlDesk } from "../control-desk.js";
import type { CustomersStatus } from "../customers/customer-book.js";
import type { Data, PolicyVersion } from "../data.js";
import type { Hold, Released } from "../hold.js";
import type { Live } from "../live/live.js";
import type { SeenClients } from "../live/seen-clients.js";
import type { BusyClient } from "../live/series.js";
import type { Log } from "../log.js";
import type { PolicyStatus } from "../policy/policy-status.js";
import type { ClientFilter, Refusal, RefusedClient } from "../refusal.js";
import type { Access } from "./access/access.js";
import type { Caller } from "./access/caller.js";
import type { Turns } from "./turns.js";
import type { RehearsalReport, Status } from "./types.js";
import type { UndoneEntries } from "./undo/undone-entries.js";

/** What handlers work on. */
export interface AdminParts {
  readonly gate: Gate;
  readonly data: Pick<Data, "kind" | "policies" | "audit" | "tokens" | "sessions">;
  readonly keeper: Keeper;
  readonly customers: Customers;
  /** Undefined: there are no edges. */
  readonly desk?: ControlDesk;
  /** A decision that refused, as long as it is remembered. Undefined: nothing here meets traffic. */
  readonly refusal?: (id: string) => Promise<Refusal | undefined>;
  /** Whom this server refused lately, and for what. Undefined: nothing here meets traffic. */
  readonly refused?: (filter: ClientFilter) => Promise<readonly RefusedClient[]>;
  /** Undefined: no recent traffic is kept here. */
  readonly rehearsal?: Rehearsals;
  /** Who came lately. */
  readonly seen: SeenClients;
  /** Whom the rules hold, as far as what meets traffic has seen. */
  readonly holds: () => Promise<readonly Hold[]>;
  /** Tells what meets traffic that these were forgotten. */
  readonly release?: (released: Released) => Promise<void>;
  /** Whether an address or block names a proxy whose word is believed. */
  readonly isProxy: (address: string) => boolean;
  /** What goes on now. Undefined: it is not watched here. */
  readonly live?: Live;
  readonly registry: Registry;
  readonly log: Log;
  readonly status: () => ReportedStatus | Promise<ReportedStatus>;
  /** Throws what is wrong with a policy's text. */
  readonly validate: (text: string) => unknown;
  readonly metricsText: () => Promise<string>;
  readonly busiest: (most: number) => readonly BusyClient[] | Promise<readonly BusyClient[]>;
  readonly access: Access;
  /** What there is to ask, as OpenAPI. */
  readonly openapi: () => Promise<unknown>;
  /** Acts on one thing come one after the other. */
  readonly turn: Turns;
  /** Which audit entries were taken back. */
  readonly undone: UndoneEntries;
}

/** The status as it is handed in. */
export interface ReportedStatus extends Status {
  /** Why it is not ready, in words. */
  readonly notReady?: readonly string[];
  /** Default the gate's own; with workers, of all together. */
  readonly metrics?: GateMetrics;
}

/** Of the policy's keeper, what is used here. */
export interface Keeper {
  status(): PolicyStatus;
  takeIn(
    text: string,
    options: { who: string; why?: string; after?: number; source?: "api" },
  ): Promise<PolicyVersion>;
  rollback(options: {
    to?: number;
    who: string;
    why?: string;
    after?: number;
    undoes?: number;
  }): Promise<PolicyVersion>;
}

/** Policies rehearsed on recent traffic, one at a time. */
export interface Rehearsals {
  /** Throws what is wrong with the policy's text. Undefined: another is under way. */
  begin(text: string, options: { readonly isCompared: boolean }): Promise<RehearsalReport> | undefined;
}

/** Of the book of customers, what is used here. */
export interface Customers {
  get(id: string): Promise<CustomerRecord | undefined>;
  setTier(id: string, tier: string | undefined): Promise<{ readonly state: "done" | "pending" } | undefined>;
  setLimits(
    id: string,
    limits: Readonly<Record<number, number>> | undefined,
  ): Promise<{ readonly state: "done" | "pending" } | undefined>;
  status?(): CustomersStatus;
}

/** One request, as a handler sees it. */
export interface Ask {
  readonly req: IncomingMessage;
  /** For an answer that goes on and on; whoever takes it says `isSent`. */
  readonly res: ServerResponse;
  /** Who asks, and what they may. */
  readonly caller: Caller;
  /** A part of the path, decoded. */
  param(name: string): string;
  readonly query: Readonly<Record<string, string>>;
  body(): Promise<unknown>;
  /** Who acts, for the audit. */
  who(): string;
  /** The address they call from, as far as trusted proxies tell. */
  peer(): string | undefined;
}

export interface Answer<Body = unknown> {
  readonly status?: number;
  readonly body: Body;
  /** Sent as it is, under this type, instead of as JSON. A stream is sent as it comes. */
  readonly type?: string;
  /** The handler answers by itself, or has. */
  readonly isSent?: true;
  /** By what a write can say which state it is about (`If-Match`). */
  readonly etag?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler<Body = unknown> = (parts: AdminParts, ask: Ask) => Answer<Body> | Promise<Answer<Body>>;
