import type { Check } from "../check.js";
import type { CustomerRecord } from "../directory.js";
import type { DecideOptions } from "../gate.js";
import type { HashedKey } from "../key-hash.js";
import type { Candidate } from "./candidates.js";
import type { NewcomerCap } from "./newcomers.js";
import type { CompiledPolicy } from "./policy.js";
import { countedAlone, crowdOf, isAdmitted } from "./questions.js";
import type { ReceivedRequest } from "./request.js";
import type { Level } from "./tiers.js";

/** Whether a caller leaves it to the rules what is asked and what it weighs. */
export function asksNothing(asked: DecideOptions | undefined): boolean {
  return asked === undefined || (asked.rule ?? asked.cost ?? asked.id) === undefined;
}

/** What `Questions` come to where a policy is brief and the caller asks nothing: its checks, and no more. */
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
    if (!(applies ?? (rule.matches === undefined || rule.matches(subject, request.readings)))) continue;
    const key = rule.keyOf(request);
    if (key === undefined) continue;
    const levels = rule.levels ?? policy.tiers.of(record);
    if (isAdmitted(newcomers, rule, key, request)) {
      checks = added(checks, rule.name, key, levels, rule.isByIp ? client : undefined);
    } else {
      checks = added(checks, crowdOf(rule.name), client.network, levels, undefined);
      checks = added(checks, rule.name, key, levels.filter(countedAlone), undefined);
    }
  }
  return checks;
}

function added(
  checks: Check[] | undefined,
  rule: string,
  key: string,
  levels: readonly Level[],
  hashed: HashedKey | undefined,
): Check[] | undefined {
  let all = checks;
  for (let i = 0; i < levels.length; i++) {
    const { limit, name, tier } = levels[i] as Level;
    const check: Check = { rule, key, limit, cost: 1, shadow: false, name, tier, id: undefined, hashed };
    // To begin with it costs less than to add it: V8 makes room for sixteen more with the first that is added.
    if (all === undefined) all = [check];
    else all.push(check);
  }
  return all;
}
