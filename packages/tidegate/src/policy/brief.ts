import type { Check } from "../check.js";
import type { CustomerRecord } from "../directory.js";
import type { DecideOptions } from "../gate.js";
import type { Candidate } from "./candidates.js";
import type { NewcomerCap } from "./newcomers.js";
import type { CompiledPolicy } from "./policy.js";
import type { ReceivedRequest } from "./request.js";
import type { Level } from "./tiers.js";

/** Whether a caller leaves it to the rules what is asked and what it weighs. */
export function asksNothing(asked: DecideOptions | undefined): boolean {
  return asked === undefined || (asked.rule ?? asked.cost ?? asked.id) === undefined;
}

/**
 * What `Questions` come to where a policy is brief and the caller asks nothing: its checks, and no more. Undefined where
 * there is more to it: nothing to check, or a key too many of its address block.
 */
export function briefChecks(
  policy: CompiledPolicy,
  request: ReceivedRequest,
  record: CustomerRecord | undefined,
  newcomers: NewcomerCap | undefined,
): Check[] | undefined {
  const { client, subject } = request;
  const candidates = policy.candidates.of(subject);
  let checks: Check[] | undefined;
  for (let i = 0; i < candidates.length; i++) {
    const { rule, applies } = candidates[i] as Candidate;
    if (rule.isOff || !(applies ?? (rule.matches === undefined || rule.matches(subject, request.readings))))
      continue;
    const key = rule.keyOf(request);
    if (key === undefined) continue;
    if (newcomers?.watches(rule, client) && !newcomers.admit(client.network, key, request.at))
      return undefined;
    const levels = rule.levels ?? policy.tiers.of(record);
    const { name } = rule;
    const hashed = rule.isByIp ? client : undefined;
    for (let j = 0; j < levels.length; j++) {
      const level = levels[j] as Level;
      const check: Check = {
        rule: name,
        key,
        limit: level.limit,
        cost: 1,
        shadow: false,
        name: level.name,
        tier: level.tier,
        id: undefined,
        hashed,
      };
      // To begin with it costs less than to add it: V8 makes room for sixteen more with the first that is added.
      if (checks === undefined) checks = [check];
      else checks.push(check);
    }
  }
  return checks;
}
