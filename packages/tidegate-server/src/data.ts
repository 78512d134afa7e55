import { createHash } from "node:crypto";
import type { CustomerRecord, Directory } from "tidegate";
import type { EdgeMode } from "./edge.js";
import type { Offenders } from "./offenders.js";

/** What outlives a process beside counts: lists, customers, policy versions, audit. Embedded or in Redis. */
export interface Data {
  readonly kind: "embedded" | "redis";
  readonly directory: Directory;
  readonly policies: PolicyVersions;
  readonly audit: AuditLog;
  readonly pending: PendingCustomers;
  readonly offenders: Offenders;
  readonly edgeBook: EdgeBook;
  readonly leases: Leases;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  /** Many records of the directory at once; an empty one removes. */
  putCustomers(records: readonly (readonly [id: string, record: CustomerRecord])[]): Promise<void>;
  close(): Promise<void>;
}

/** One accepted policy. Versions are never changed: whoever goes back adds a new one with the old text. */
export interface PolicyVersion {
  /** 1, 2, 3, … */
  readonly id: number;
  /** YAML. */
  readonly text: string;
  /** SHA-256 of the text, hex. */
  readonly digest: string;
  readonly at: number;
  readonly who: string;
  readonly source: "demo" | "file" | "rollback" | "api";
  readonly why?: string;
}

/** By it a text is known again. */
export function policyDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export interface PolicyVersions {
  newest(): Promise<PolicyVersion | undefined>;
  get(id: number): Promise<PolicyVersion | undefined>;
  /** Newest first; `before` for the next page. */
  list(options?: { readonly most?: number; readonly before?: number }): Promise<PolicyVersion[]>;
  /** The last one that came from a file. */
  newestFrom(source: PolicyVersion["source"]): Promise<PolicyVersion | undefined>;
  /** Undefined when another became the newest meanwhile: then `after` is no longer it. */
  add(
    version: Omit<PolicyVersion, "id" | "at" | "digest">,
    after: number | undefined,
  ): Promise<PolicyVersion | undefined>;
  /**
   * Tells of a new one within a second, whoever added it; of several at once, of the newest. May begin with the one there
   * is. An outage is sat out. Answers how to stop.
   */
  watch(listener: (newest: PolicyVersion) => void): () => void;
}

/** One change somebody made. */
export interface AuditEntry {
  readonly id: number;
  readonly at: number;
  readonly who: string;
  /** A verb and its object: `blocklist.add`, `policy.rollback`. */
  readonly what: string;
  readonly target?: string;
  readonly why?: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** The entry whose change this one took back. */
  readonly undoes?: number;
}

export interface AuditLog {
  add(entry: Omit<AuditEntry, "id" | "at">): Promise<AuditEntry>;
  /** Newest first; `before` for the next page. */
  list(options?: { readonly most?: number; readonly before?: number }): Promise<AuditEntry[]>;
}

/** Writes to customers that have to reach the primary database too, noted before either is written. */
export interface PendingCustomers {
  add(write: Omit<PendingCustomer, "id" | "at">): Promise<PendingCustomer>;
  /** Oldest first. */
  all(): Promise<PendingCustomer[]>;
  done(id: number): Promise<void>;
}

export interface PendingCustomer {
  readonly id: number;
  readonly at: number;
  readonly customer: string;
  readonly tier?: string;
  /** Window in seconds to limit. */
  readonly limits?: Readonly<Record<number, number>>;
}

/** What people decided about edges and held clients. It outlives every process, and the loop keeps to it. */
export interface EdgeBook {
  /** Of edges nobody set, none. */
  modes(): Promise<ReadonlyMap<string, SetMode>>;
  setMode(edge: string, mode: Omit<SetMode, "at">): Promise<SetMode>;
  /** Clients cleared by hand whose hold-off has not ended: they go to no edge. */
  clears(): Promise<ClearedKey[]>;
  addClears(keys: readonly string[], terms: Pick<ClearedKey, "until" | "who" | "isClient">): Promise<void>;
  /** How each edge was when whoever keeps it last looked: for those who do not keep it. */
  reports(): Promise<ReadonlyMap<string, unknown>>;
  report(edge: string, report: unknown): Promise<void>;
  /** What guards withhold at which edge. It outlives every process, as what people decided does. */
  stops(): Promise<ReadonlyMap<string, unknown>>;
  /** Undefined: nothing any more. */
  setStop(edge: string, stop: object | undefined): Promise<void>;
  /** Tells that something people decided has changed, within a second, whoever changed it. Answers how to stop. */
  watch(listener: () => void): () => void;
}

export interface SetMode {
  readonly mode: EdgeMode;
  readonly who: string;
  readonly why?: string;
  readonly at: number;
}

export interface ClearedKey {
  readonly key: string;
  /** This client was meant, under whatever key it is held: all of the address or block. Else the key alone. */
  readonly isClient?: true;
  readonly until: number;
  readonly who: string;
  readonly at: number;
}

/** One process at a time. */
export interface Leases {
  /**
   * Takes, or holds on to, what nobody else has. Answers a number that is larger for each new holder, or undefined: somebody else
   * has it.
   */
  take(name: string, holder: string, forMs: number): Promise<number | undefined>;
  giveUp(name: string, holder: string): Promise<void>;
  /** Who has it now; undefined: nobody. */
  holder(name: string): Promise<string | undefined>;
}

/** What somebody may do, each what those before it may too: look, act on clients, change how all of it works. */
export const roles = ["viewer", "operator", "admin"] as const;

export type Role = (typeof roles)[number];

/** What is known of a token. The token itself is nowhere, only its SHA-256. */
export interface NamedToken {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  readonly createdBy: string;
  /** To the minute. */
  readonly lastUsedAt?: number;
  /** Undefined: it holds until it is revoked. */
  readonly until?: number;
}

/** Who may ask, beside whoever has the token of the settings. Ended ones stay until they are revoked. */
export interface Tokens {
  /** Undefined: another has this name, or is this very token. */
  add(
    token: Pick<NamedToken, "name" | "role" | "createdBy" | "until">,
    digest: string,
  ): Promise<NamedToken | undefined>;
  /** Oldest first. */
  list(): Promise<NamedToken[]>;
  findByDigest(digest: string): Promise<NamedToken | undefined>;
  /** By id or name. Undefined: there is none. */
  revoke(idOrName: string): Promise<NamedToken | undefined>;
  touch(id: string, at: number): Promise<void>;
}

/** Somebody who logged in, or may do so once. Found by a digest of what only they know. */
export interface Session {
  /** Of the token it was begun with; it ends with it. */
  readonly tokenId: string;
  readonly role: Role;
  /** The token's, where it has one. */
  readonly name?: string;
  readonly until: number;
}

export interface Sessions {
  add(digest: string, session: Session): Promise<void>;
  /** Undefined: there is none, or it has ended. */
  find(digest: string): Promise<Session | undefined>;
  /** What was removed: of several that ask at once, one is told. */
  remove(digest: string): Promise<Session | undefined>;
  removeOfToken(tokenId: string): Promise<void>;
}
