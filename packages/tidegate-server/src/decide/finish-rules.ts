import type { Limit, Policy, RuleOptions } from "tidegate";

/** A rule that has to be told how a request ended, and the option that says so. */
export interface FinishRule {
  readonly at: number;
  readonly rule: RuleOptions;
  readonly option: "count" | "clearOnSuccess" | "trust" | "limits";
}

/** Those in force: what is switched off reserves nothing. */
export function finishRules({ rules, tiers, mode }: Policy): FinishRule[] {
  if (mode === "off") return [];
  const tiersLease = Object.values(tiers ?? {}).some((limits) => limits.some(isLease));
  return rules.flatMap((rule, at) => {
    const option = rule.mode === "off" ? undefined : finishOption(rule, tiersLease);
    return option === undefined ? [] : [{ at, rule, option }];
  });
}

function finishOption(
  { count, clearOnSuccess, trust, limits }: RuleOptions,
  tiersLease: boolean,
): FinishRule["option"] | undefined {
  if (count !== undefined && count !== "all") return "count";
  if (clearOnSuccess === true) return "clearOnSuccess";
  if (trust !== undefined) return "trust";
  if (limits === "tier") return tiersLease ? "limits" : undefined;
  return [limits].flat().some(isLease) ? "limits" : undefined;
}

function isLease(limit: Limit | string): boolean {
  return typeof limit === "object" && limit.kind === "concurrency";
}
