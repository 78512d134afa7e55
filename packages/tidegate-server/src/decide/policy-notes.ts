import type { Gate, Policy, RuleOptions } from "tidegate";
import { finishRules } from "./finish-rules.js";

/** What the service has to know of a policy's rules by their names. */
export interface PolicyNotes {
  readonly rules: ReadonlyMap<string, RuleOptions>;
  /** Under which names count rules that have to be told how a request ended. */
  readonly finishing: ReadonlySet<string>;
}

/** Made once for each policy in force. */
export function policyNotes(gate: Gate): () => PolicyNotes {
  let policy: Policy | undefined;
  let notes: PolicyNotes;
  return () => {
    const now = gate.policy;
    if (now !== policy) {
      policy = now;
      notes = notesOf(now);
    }
    return notes;
  };
}

function notesOf(policy: Policy): PolicyNotes {
  const names = finishRules(policy).map(({ rule }) => rule.name);
  return {
    rules: new Map(policy.rules.map((rule) => [rule.name, rule])),
    // What an address block brings beyond its share is counted under a name of its own.
    finishing: new Set(names.flatMap((name) => [name, `${name} crowd`])),
  };
}
