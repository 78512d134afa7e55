import { shown } from "../errors.js";
import type { Warning } from "../gate.js";
import { covers } from "./matching/match.js";
import type { CompiledPolicy } from "./policy.js";
import type { Fact, Match } from "./rule-options.js";
import type { Rule } from "./rules.js";

/** What a policy allows that its author may not have meant. Each is told once; none is an error. */
export function advice(policy: CompiledPolicy): Warning[] {
  const live = policy.rules.filter(({ isOff }) => !isOff);
  return live
    .filter(
      (rule) => countsOnlyTheKnown(rule) && !live.some((other) => other !== rule && protects(other, rule)),
    )
    .map(strangersFree);
}

/** Facts that only the app can give: a request without a login has none. */
function countsOnlyTheKnown({ options }: Rule): boolean {
  const by: readonly Fact[] = Array.isArray(options.by) ? options.by : [options.by as Fact];
  return by.every((fact) => fact === "user" || fact === "customer");
}

function protects(other: Rule, rule: Rule): boolean {
  if (countsOnlyTheKnown(other) || other.isShadow || other.options.except !== undefined) return false;
  const everything: Match = "/";
  return covers(other.options.only ?? everything, rule.options.only ?? everything);
}

function strangersFree({ name }: Rule): Warning {
  return {
    code: "TG_STRANGERS_FREE",
    message: `Rule ${shown(name)} counts logged-in users only, and no other rule limits the same paths: requests without a login are not limited there.`,
    help: 'Add a rule by "ip" for these paths, or by ["user", "ip"].',
  };
}
