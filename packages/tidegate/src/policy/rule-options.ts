import type { Duration, RateText } from "../duration.js";
import type { OnStoreFailure } from "../failure-options.js";
import type { Limit } from "../limit.js";
import type { Outcome, Subject } from "../subject.js";

/** Whom to count: a fact of the request by its name, or a function of the request. */
export type Fact =
  | "ip"
  | "network"
  | "user"
  | "customer"
  | "account"
  | "apiKey"
  | "standard"
  | "broad"
  | "path"
  | `header:${string}`
  | `cookie:${string}`
  | ((subject: Subject) => string | undefined);

/** Which requests: a path and everything below it, a method, a host, a function, or a list of such, any of which will do. */
export type Match =
  | string
  | {
      readonly method?: string | readonly string[];
      readonly path?: string | readonly string[];
      readonly host?: string | readonly string[];
    }
  | ((subject: Subject) => boolean)
  | readonly Match[];

/** What to limit: when it applies, by whom to count, its limits. */
export interface RuleOptions {
  /** Printable, at most 64 characters, unique in its gate. */
  name: string;
  /** Only these requests; without it all. */
  only?: Match;
  /** Never these. Wins over `only`. */
  except?: Match;
  /** Whom to count. A list counts the combination. */
  by: Fact | readonly Fact[];
  /** Limits that hold together, or `"tier"`: those of the customer's tier or override. */
  limits: readonly (Limit | RateText)[] | Limit | RateText | "tier";
  /** What one request weighs. Default 1. */
  cost?: number | ((subject: Subject) => number);
  /** `"shadow"` judges and reports without refusing; `"off"` does nothing. Default `"enforce"`. */
  mode?: "enforce" | "shadow" | "off";
  /** Which answers count. The cost is reserved at once and given back by `finish` if the answer does not count. Default `"all"`. */
  count?: "all" | "failures" | "successes" | ((outcome: Outcome) => boolean);
  /** After so many refusals the client is held: refused whatever its limits say, longer each time. */
  hold?: HoldOptions;
  /** `"delay"` keeps a request waiting instead of refusing it, as far as `maxDelay` and the gate's queue allow. Default `"refuse"`. */
  action?: "refuse" | "delay";
  /** The longest a delayed request waits. Default `"10s"`. */
  maxDelay?: Duration;
  /** A successful answer makes the gate forget this rule's key. */
  clearOnSuccess?: boolean;
  /** A successful answer makes the rule spare this key: it is counted on, but no longer refused by this rule. */
  trust?: TrustOptions;
  /** False hides the rule's numbers from the client. Default true. */
  expose?: boolean;
  onStoreFailure?: OnStoreFailure;
  /** Whether offenders held by this rule go to the edges, or to which. */
  edges?: boolean | readonly string[];
}

export interface HoldOptions {
  /** Refusals within `within` that make an offence. Default 1. */
  after?: number;
  /** Default the rule's longest window. */
  within?: Duration;
  /** How long the first offence is held, the second, and so on; the last stands for all further ones. */
  for: Duration | readonly Duration[];
  /** After so long without an offence one step is forgiven. Default the longest hold. */
  forget?: Duration;
  /** A held client is refused on every path, not only where the rule applies. Default false. */
  everywhere?: boolean;
}

export interface TrustOptions {
  /** Whom to trust, e.g. `["ip", "account"]`: this account from this address. */
  by: Fact | readonly Fact[];
  /** For how long after each success. */
  for: Duration;
}
