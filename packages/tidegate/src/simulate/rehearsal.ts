import type { Decision } from "../decision.js";
import type { GateOptions, IdentityOptions, Policy } from "../gate.js";
import type { Outcome, Subject } from "../subject.js";

/** One request as it was recorded. */
export interface RecordedRequest {
  /** Milliseconds since the epoch, fractions kept. */
  readonly at: number;
  readonly subject: Subject;
  /** How it ended then, for rules that look at the answer. */
  readonly outcome?: Outcome;
  /** How long it took then: it ends so much later, which matters to limits on what happens at the same time. Default 0. */
  readonly tookMs?: number;
}

export interface RehearsalOptions {
  readonly policy: Policy;
  /** The policy in force, to tell what would change. */
  readonly against?: Policy;
  readonly identity?: IdentityOptions;
  /** As the gate in force has them; their defaults are the gate's. */
  readonly gate?: Pick<GateOptions, "newKeysPerSecond" | "maxDelayed">;
  /** Customers' tiers and own limits are not in a log: what stands here is believed. */
  readonly tierOf?: (customer: string) => string | undefined;
  /** Also suggest limits from the traffic's own distribution. */
  readonly suggest?: SuggestOptions | boolean;
  /** Clients told of one by one in the report. Default 50. */
  readonly clients?: number;
  /** Points of each plot at most. Default 600. */
  readonly points?: number;
  /** Told of every request and what the policy said to it, delayed ones when they are through. Costs time: fingerprints are then digested one by one. */
  readonly onDecision?: (request: RecordedRequest, decision: Decision) => void;
}

export interface SuggestOptions {
  /** Which client's peak is the measure. Default 0.999. */
  readonly percentile?: number;
  /** How much above it. Default 1.5. */
  readonly headroom?: number;
}

/** Recorded traffic through the real gate, on a clock of its own, in bounded memory. */
export interface Rehearsal {
  /**
   * In the order of time; one that is older than the last is judged at the last one's time, and counted as late. Answers a
   * promise where rules delay or look at how requests end: wait for it before the next.
   */
  add(request: RecordedRequest): void | Promise<void>;
  /** What is known so far, also in the middle. Requests still waiting under rules that delay are not in it: `finish` lets them through. */
  report(): RehearsalReport;
  /** After the last request: those still waiting wait to their end. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** Plain data, the same in the terminal, in `--json`, in the HTML report and in the dashboard. Times are milliseconds since the epoch. */
export interface RehearsalReport {
  readonly requests: number;
  /** Of the first and the last request; undefined where there was none. */
  readonly from?: number;
  readonly to?: number;
  /** Judged at a later time than their own. */
  readonly late: number;
  /** Distinct clients, estimated above some thousands. */
  readonly clients: number;
  readonly outcome: PolicyOutcome;
  readonly against?: PolicyOutcome;
  readonly change?: PolicyChange;
  readonly series: TrafficSeries;
  /** The most requests that reached the origin in one second: without any policy, and under each. */
  readonly worstSecond: {
    readonly recorded: BusySecond;
    readonly passed: BusySecond;
    readonly passedAgainst?: BusySecond;
  };
  readonly rules: readonly RuleReport[];
  /** The most refused first; at most so many as asked for. */
  readonly offenders: readonly ClientReport[];
  readonly falsePositives: readonly Suspicion[];
  readonly suggestions?: readonly Suggestion[];
  /** What is estimated, what the log could not tell, in sentences. */
  readonly notes: readonly string[];
}

export interface PolicyOutcome {
  readonly allowed: number;
  readonly refused: number;
  /** Would be refused but for shadow. */
  readonly shadow: number;
  readonly delayed: number;
  readonly held: number;
  readonly refusedClients: number;
}

export interface PolicyChange {
  readonly newlyRefused: { readonly requests: number; readonly clients: number };
  readonly newlyPassed: { readonly requests: number; readonly clients: number };
  /** The most changed first. */
  readonly worst: readonly ClientChange[];
}

export interface ClientChange {
  readonly client: string;
  readonly userAgent?: string;
  readonly requests: number;
  readonly newlyRefused: number;
  readonly newlyPassed: number;
}

/** Columns of one length: requests begun within `everyMs` from each `at`. */
export interface TrafficSeries {
  readonly everyMs: number;
  readonly at: readonly number[];
  readonly requests: readonly number[];
  readonly refused: readonly number[];
  readonly refusedAgainst?: readonly number[];
  /** By the rule that spoke. */
  readonly refusedBy: Readonly<Record<string, readonly number[]>>;
}

export interface BusySecond {
  readonly at: number;
  readonly requests: number;
}

export interface RuleReport {
  readonly rule: string;
  readonly isShadow: boolean;
  /** Requests it applied to. */
  readonly judged: number;
  readonly refused: number;
  readonly clients: number;
  readonly firstAt?: number;
  readonly lastAt?: number;
  /** `"never-applies"`: no request was its; `"never-fires"`: it refused nobody. */
  readonly silence?: "never-applies" | "never-fires";
}

export interface ClientReport {
  /** As counted by: an address, a fingerprint, a user. */
  readonly client: string;
  /** Where its first refused request came from. */
  readonly address: string;
  /** The one that refused it; `"blocklist"` where that did. */
  readonly rule: string;
  /** Of its first refused request. */
  readonly userAgent?: string;
  readonly requests: number;
  readonly refused: number;
  /** Of all its requests, 0 to 1. */
  readonly share: number;
  readonly firstRefusedAt: number;
  readonly lastRefusedAt: number;
  readonly longestHoldMs: number;
}

/** Refused, and maybe wrongly. */
export interface Suspicion extends ClientReport {
  readonly why: "browser" | "crawler" | "many-behind-one-address";
  readonly words: string;
}

export interface Suggestion {
  readonly rule: string;
  readonly limit: string;
  /** Undefined where none can be suggested. */
  readonly suggested?: string;
  /** What the suggested limit would have refused. */
  readonly refused?: number;
  readonly refusedClients?: number;
  /** On how many clients it stands, or why there is none. */
  readonly words: string;
}
