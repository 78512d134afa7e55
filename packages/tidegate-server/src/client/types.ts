import type { Decision, Subject } from "tidegate";

/** A request to be judged: what the caller knows of it. Left out, it is a GET of `/`. */
export interface AskedSubject extends Partial<Omit<Subject, "header" | "ignoresCase">> {
  /** The client's request headers, as far as rules look at them; names in any case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export interface AskOptions {
  /** Asks this rule of the policy alone. */
  readonly rule?: string;
  /** What this request weighs, instead of what the rules say. */
  readonly cost?: number;
  /** Names the charge: logs charge the same id once however often asked. */
  readonly id?: string;
  /** Lets rules that delay keep the answer back; they refuse otherwise. Needs a `timeoutMs` as long. */
  readonly wait?: boolean;
}

/** One of many subjects, which may have its own rule, cost and id. */
export type AskedOfMany = AskedSubject & Omit<AskOptions, "wait">;

/** A decision as it comes over the wire. `reason` is `"degraded"` and `source` `"none"` when the service did not answer. */
export interface AnsweredDecision
  extends Pick<
    Decision,
    "id" | "allowed" | "reason" | "verdict" | "verdicts" | "source" | "delayedMs" | "listed"
  > {
  /** To be copied into the answer to the client: RateLimit, Retry-After. */
  readonly headers: Readonly<Record<string, string>>;
  /** There when the service waits to hear how the request ended. */
  readonly finish?: string;
}
