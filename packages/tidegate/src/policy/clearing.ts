import type { Check } from "../check.js";
import type { Cleared } from "../gate.js";
import type { Limit } from "../limit.js";
import type { Subject } from "../subject.js";
import { pathReadings } from "./matching/path.js";
import type { CompiledPolicy } from "./policy.js";
import { MissingFact, type Request, wholeSubject } from "./request.js";
import { crowdOf } from "./rule-asks.js";
import type { Rule } from "./rules.js";
import type { Tiers } from "./tiers.js";
import { trustMark } from "./trust.js";

/** What is to be forgotten of a client of whom some facts are known: counts, holds, its block's crowd, and trust. */
export function clearing(
  { rules, tiers }: CompiledPolicy,
  request: Request,
): Cleared & { readonly checks: Check[] } {
  const cleared: Cleared["cleared"][number][] = [];
  const unknown: string[] = [];
  const checks: Check[] = [];
  const network = keyFrom(({ client }) => client.network, request);
  for (const rule of rules) {
    const found = wholeKey(rule, request) ?? partOfKey(rule, request);
    if (found === undefined) {
      unknown.push(rule.name);
      continue;
    }
    cleared.push({ rule: rule.name, ...found });
    const { key } = found;
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

interface Found {
  readonly key: string;
  readonly missing?: readonly string[];
}

function wholeKey({ keyOf }: Rule, request: Request): Found | undefined {
  const key = keyFrom(keyOf, request);
  return key === undefined ? undefined : { key };
}

/** As a request that says no more than this is counted. Only a key in which something stands that was given: others are everybody's. */
function partOfKey({ keyOf }: Rule, request: Request): Found | undefined {
  const { supposed, missing, used } = supposing(request);
  const key = keyFrom(keyOf, supposed);
  return key === undefined || used.size === 0 || missing.size === 0
    ? undefined
    : { key, missing: [...missing] };
}

/** What is not given is taken as `explain` takes it, and noted; but nobody's address is supposed. */
function supposing(request: Request): { supposed: Request; missing: Set<string>; used: Set<string> } {
  const missing = new Set<string>();
  const used = new Set<string>();
  const usual: Subject = {
    ...wholeSubject({}),
    header(name) {
      missing.add(`header:${name}`);
      return undefined;
    },
  };
  const subject = new Proxy(request.subject, {
    get(given, name: keyof Subject) {
      try {
        const fact = given[name];
        if (fact !== undefined && fact !== "") used.add(name);
        return fact;
      } catch (error) {
        if (!(error instanceof MissingFact) || name === "ip") throw error;
        if (name !== "header") missing.add(name);
        return usual[name];
      }
    },
  });
  const supposed: Request = {
    subject,
    get client() {
      const { client } = request;
      used.add("ip");
      return client;
    },
    get readings() {
      return pathReadings(subject.path);
    },
  };
  return { supposed, missing, used };
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
