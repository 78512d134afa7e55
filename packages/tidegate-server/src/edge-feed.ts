import type { Policy, RuleOptions } from "tidegate";

/** Which edges are told of whom a rule holds, by name, empty: all. Undefined: none. */
export function edgesFed(rule: RuleOptions, policy: Pick<Policy, "mode">): readonly string[] | undefined {
  const { edges } = rule;
  if (edges === undefined || edges === false || !refusesAsEdgesDo(rule)) return undefined;
  // Whoever would only have been refused is refused nowhere.
  if ((rule.mode ?? "enforce") !== "enforce" || (policy.mode ?? "enforce") !== "enforce") return undefined;
  return edges === true ? [] : edges;
}

/** An edge that knows a client by its address refuses it on every path; by its standard fingerprint, on that path alone. */
export function refusesAsEdgesDo({ only, except, by, hold }: RuleOptions): boolean {
  if (only === undefined && except === undefined) return true;
  return hold?.everywhere === true || [by].flat().every((fact) => fact === "standard");
}
