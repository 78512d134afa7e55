import type { OffenderFacts } from "./offenders.js";

/** A client that a rule of the policy holds, as far as this server has seen it. */
export interface Hold {
  readonly rule: string;
  /** As the rule counts: may be made of what a client wrote. */
  readonly key: string;
  /** Milliseconds since the epoch, as `until`: when it was first seen here. */
  readonly since: number;
  readonly until: number;
  /** Who it was, for people: hostile until shown to be printable. */
  readonly about: OffenderFacts;
}

/** What was forgotten of a client. */
export type Released = readonly { readonly rule: string; readonly key: string }[];
