import type { Clock } from "./clock.js";
import type { Decision, Verdict } from "./decision.js";
import type { CustomerRecord, Directory, ListEntry } from "./directory.js";
import type { Duration, RateText } from "./duration.js";
import type { FailureOptions } from "./failure-options.js";
import type { Limit } from "./limit.js";
import type { RuleOptions } from "./policy/rule-options.js";
import type { Store } from "./store.js";
import type { Subject } from "./subject.js";

export interface Policy {
  /** `"off"` lets everything pass, `"shadow"` judges and reports without refusing. Default `"enforce"`. */
  mode?: "enforce" | "shadow" | "off";
  rules: readonly RuleOptions[];
  /** Named sets of limits, for rules with `limits: "tier"`. */
  tiers?: Readonly<Record<string, readonly (Limit | RateText)[]>>;
  /** For customers with no tier on record, or one that does not exist. */
  defaultTier?: string;
  /** Addresses and blocks that are never counted, beside those in the directory. */
  safelist?: readonly string[];
  /** Addresses and blocks that are always refused, beside those in the directory. */
  blocklist?: readonly string[];
}

export interface IdentityOptions {
  /** IPv6 clients are counted by this prefix. Default 64. */
  ipv6Prefix?: number;
  /** Prefixes of `network`, for IPv4 and IPv6. Default [24, 48]. */
  networkPrefixes?: readonly [number, number];
  /** `"seed"` joins a fingerprint's parts by colons and takes SHA-1; default `"sha256"` of parts that can not collide. */
  fingerprint?: "sha256" | "seed";
}

export interface GateOptions extends Policy, FailureOptions {
  /** Default `memoryStore()`, counts in this process. */
  store?: Store;
  /** Where live lists and customers are. Default: the store's own, else in this process. */
  directory?: Directory;
  identity?: IdentityOptions;
  /** New keys an address block may bring per second before its further ones are counted for the block too. Default 1000; false turns it off. */
  newKeysPerSecond?: number | false;
  /** Requests that may wait at the same time under rules that delay. Default 1000. */
  maxDelayed?: number;
  /** False where nobody will call `finish`: rules that need it are then refused. Default true. */
  canFinish?: boolean;
  /** For lists' expiry. Default the store's own clock. */
  clock?: Clock;
  /** Told once of each thing to look at, and again when the directory is out of reach again. Default: `console.warn`. */
  onWarning?: (warning: Warning) => void;
}

export interface Gate {
  /** Judges and charges a request. What a caller without a compiler leaves out is taken as `explain` takes it. */
  decide(subject: Subject, options?: DecideOptions): Promise<Decision>;
  /** What `decide` would say, in words, free of charge. What is left out is taken as a GET of `/`. */
  explain(subject: Partial<Subject>): Promise<Explanation>;
  /** Forgets this client under every rule whose key these facts give, wholly or in part, holds included. */
  clear(subject: Partial<Subject>): Promise<Cleared>;
  /** Puts another policy in force, at once and wholly, or throws and changes nothing. Counts go on. */
  update(policy: Policy): void;
  readonly policy: Policy;
  readonly safelist: AddressList;
  readonly blocklist: AddressList;
  readonly customers: Customers;
  /** Calls back until the answered function is called. */
  on<Name extends keyof GateEvents>(name: Name, listener: (event: GateEvents[Name]) => void): () => void;
  metrics(): GateMetrics;
  /** The busiest clients lately, busiest first. */
  busiest(count?: number): BusyKey[];
  /** Resolves when lists are loaded. Until then the gate decides without the directory's. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface DecideOptions {
  /** Ends a wait under rules that delay. */
  signal?: AbortSignal;
  /** Asks this rule alone, as it is written; mode and lists come before it as ever. */
  rule?: string;
  /** What this request weighs, instead of what the rules say. A limit that can not charge it charges 1. */
  cost?: number;
  /** Names the charge: logs charge the same key and id once however often retried, leases are renewed. Other limits take no notice. */
  id?: string;
}

export interface AddressList {
  /** Default for one week; `"permanent"` only if asked. */
  add(
    address: string,
    options?: { who?: string; why?: string; for?: Duration | "permanent" },
  ): Promise<ListEntry>;
  /** Answers whether there was such an entry. */
  remove(address: string): Promise<boolean>;
  entries(): Promise<ListEntry[]>;
  /** The entry that covers this address now. */
  find(address: string): ListEntry | undefined;
}

export interface Customers {
  get(id: string): Promise<CustomerRecord | undefined>;
  setTier(id: string, tier: string | undefined): Promise<void>;
  /** Own limits by window in seconds, replacing the tier's; undefined brings the tier back. What `get` answers will do. */
  setLimits(
    id: string,
    limits: Readonly<Record<number, number>> | ReadonlyMap<number, number> | undefined,
  ): Promise<void>;
}

export interface Explanation {
  readonly allowed: boolean;
  readonly reason: Decision["reason"];
  /** The whole answer in a few sentences. */
  readonly words: string;
  readonly verdict?: Verdict;
  readonly listed?: ListEntry;
  readonly rules: readonly RuleExplanation[];
}

export interface RuleExplanation {
  readonly rule: string;
  readonly applies: boolean;
  readonly key?: string;
  readonly tier?: string;
  readonly verdicts: readonly Verdict[];
  readonly words: string;
}

export interface Cleared {
  /**
   * What is forgotten. `missing` names the facts of the key that were not given, as `account` or `header:x-id`: then only what
   * came without them is forgotten, and what the rule counted of this client with them stays.
   */
  readonly cleared: readonly {
    readonly rule: string;
    readonly key: string;
    readonly missing?: readonly string[];
  }[];
  /** Rules whose key these facts do not give. */
  readonly unknown: readonly string[];
}

export interface GateEvents {
  decision: { readonly subject: Subject; readonly decision: Decision };
  refused: { readonly subject: Subject; readonly decision: Decision };
  /** A rule began to hold a client. */
  held: { readonly rule: string; readonly key: string; readonly until: number; readonly subject: Subject };
  degraded: { readonly error: unknown };
  recovered: Record<string, never>;
  /** Something to look at, told once: misuse, an unknown tier, a directory out of reach. */
  warning: Warning;
}

export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly help: string;
}

export interface GateMetrics {
  readonly decisions: number;
  readonly allowed: number;
  readonly refused: number;
  readonly delayed: number;
  /** Requests waiting now under rules that delay. */
  readonly waiting: number;
  readonly degraded: boolean;
  /** Decisions made without the store. */
  readonly withoutStore: number;
  readonly byReason: Readonly<Record<Decision["reason"], number>>;
  /** By rule: requests it judged, refused, would have refused in shadow, and clients it began to hold. */
  readonly byRule: Readonly<Record<string, RuleMetrics>>;
  readonly safelistEntries: number;
  readonly blocklistEntries: number;
}

export interface RuleMetrics {
  readonly judged: number;
  readonly refused: number;
  readonly shadowRefused: number;
  readonly held: number;
}

export interface BusyKey {
  readonly key: string;
  /** Requests counted lately, at most `error` too many. */
  readonly count: number;
  readonly error: number;
  readonly refused: number;
  /** Requests since this key is kept by name. They do not fade; they begin at 0 again when it was let go and came back. */
  readonly total: number;
  readonly totalRefused: number;
}
