import type { IdentityOptions, Policy } from "../gate.js";
import { compileKey, type KeyMaker } from "../policy/key.js";
import { ReceivedRequest } from "../policy/request.js";
import type { NameOf } from "./client-book.js";

/** A rehearsal's gate counts fingerprints in a short form. Whoever is told of is called as a gate in force would call them. */
export function longNames({ rules }: Policy, { fingerprint }: Required<IdentityOptions>): NameOf {
  const makers = rules.map(({ by, name }): KeyMaker | undefined => {
    const facts: readonly unknown[] = Array.isArray(by) ? by : [by];
    if (!facts.includes("standard") && !facts.includes("broad")) return undefined;
    return compileKey(by, { fingerprint, isShort: false }, name);
  });
  return (rule, key, subject, client) => {
    const made = makers[rule]?.(new ReceivedRequest(subject, client, 0));
    // A crowd is counted under its network, which is nobody's fingerprint.
    return made === undefined || key === client.network ? key : made;
  };
}
