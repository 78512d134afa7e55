import type { Check } from "../check.js";
import type { Cleared } from "../gate.js";
import type { Limit } from "../limit.js";
import type { CompiledPolicy } from "./policy.js";
import { crowdOf } from "./questions.js";
import { MissingFact, type Request } from "./request.js";
import type { Rule } from "./rules.js";
import type { Tiers } from "./tiers.js";
import { trustMark } from "./trust.js";

/** What is to be forgotten of a client of whom some facts are known: counts, holds, its block's crowd, and trust. */
export function clearing(
  { rules, tiers }: CompiledPolicy,
  request: Request,
): Cleared & { readonly checks: Check[] } {
  const cleared: { rule: string; key: string }[] = [];
  const unknown: string[] = [];
  const checks: Check[] = [];
  const network = keyFrom(({ client }) => client.network, request);
  for (const rule of rules) {
    const key = keyFrom(rule.keyOf, request);
    if (key === undefined) {
      unknown.push(rule.name);
      continue;
    }
    cleared.push({ rule: rule.name, key });
    const trusted = rule.trust && keyFrom(rule.trust.keyOf, request);
    if (rule.trust && trusted !== undefined)
      checks.push({ rule: rule.trust.rule, key: trusted, limit: trustMark });
    for (const limit of limitsOf(rule, tiers)) {
      checks.push({ rule: rule.name, key, limit });
      if (network !== undefined) checks.push({ rule: crowdOf(rule.name), key: network, limit });
    }
  }
  return { cleared, unknown, checks };
}

function keyFrom(keyOf: Rule["keyOf"], request: Request): string | undefined {
  try {
    return keyOf(request);
  } catch (error) {
    if (error instanceof MissingFact) return undefined;
    throw error;
  }
}

/** Every limit under which the rule may have counted. */
function limitsOf({ levels, ladder }: Rule, tiers: Tiers): Limit[] {
  const limits = levels?.map(({ limit }) => limit) ?? [...tiers.all];
  if (ladder !== undefined) limits.push(ladder.limit);
  return limits.filter((limit, i) => limits.findIndex(({ id }) => id === limit.id) === i);
}
