import { ConfigError } from "../errors.js";
import type { Gate, Policy } from "../gate.js";
import type { Limit } from "../limit.js";
import { ruleName } from "./rule-name.js";

/** What a route says of its own policy. */
export type RoutePolicy = Partial<Policy> & { readonly limit?: Limit | string };

/** The policy of one route: what it does not say is as the gate has it. Whom the gate's rules hold everywhere is held here too. */
export function routePolicy(own: RoutePolicy, title: string, { policy }: Gate): Policy {
  const { limit, rules, ...others } = own;
  if (limit !== undefined && rules !== undefined)
    throw new ConfigError("TG_MOUNT", "tidegate", "limit and rules are given.", "Give one of them.");
  const ownRules = limit === undefined ? rules : [limitRule(limit, title)];
  if (ownRules === undefined) return { ...policy, ...others };
  const names = new Set(ownRules.map(({ name }) => name));
  const elsewhere = policy.rules.filter(({ name, hold }) => hold?.everywhere === true && !names.has(name));
  return { ...policy, ...others, rules: [...ownRules, ...elsewhere.map(nowhere)] };
}

/** A route's limit counts under the route's name, lest it share counts with the gate's or another route's. */
export function limitRule(limit: Limit | string, title: string): Policy["rules"][number] {
  return { name: ruleName(`requests ${title}`), by: "ip", limits: [limit as Limit] };
}

/** Counts nothing here: only its holds are asked about. */
function nowhere({ except: _, ...rule }: Policy["rules"][number]): Policy["rules"][number] {
  return { ...rule, only: () => false };
}
