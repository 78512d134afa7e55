import { shown } from "../errors.js";
import type { Warning } from "../gate.js";
import { covers } from "./matching/match.js";
import type { CompiledPolicy } from "./policy.js";
import type { Fact, Match } from "./rule-options.js";
import type { Rule } from "./rules.js";

/** What a policy allows that its author may not have meant. Each is told once; none is an error. */
export function advice(policy: CompiledPolicy): Warning[] {
  const live = policy.rules.filter(({ isOff }) => !isOff);
  const leavingStrangers = live.filter(
    (rule) => countsOnlyTheKnown(rule) && !live.some((other) => other !== rule && protects(other, rule)),
  );
  return [...leavingStrangers.map(strangersFree), ...live.filter(waitsInVain).map(notAwaited)];
}

/** Some function of the rule's answers later, and requests do not wait. */
function waitsInVain({ options }: Rule): boolean {
  const { only, except, by, cost, count, trust } = options;
  return [only, except, by, cost, count, trust?.by].flat(2).some(isAsync);
}

function isAsync(given: unknown): boolean {
  return Object.prototype.toString.call(given) === "[object AsyncFunction]";
}

function notAwaited({ name }: Rule): Warning {
  return {
    code: "TG_ASYNC",
    message: `Rule ${shown(name)} has an async function, and its answer comes too late: no request waits for it.`,
    help: "Let the function answer at once; find out before the gate is asked what takes time. Meanwhile by counts the address, cost is 1, count counts, only applies and except does not.",
  };
}

/** Facts that only the app can give: a request without a login has none. */
function countsOnlyTheKnown(rule: Rule): boolean {
  return factsOf(rule).every((fact) => fact === "user" || fact === "customer");
}

/** Every request has one of these; a function is trusted to know. */
function countsEveryone(rule: Rule): boolean {
  return factsOf(rule).some((fact) => typeof fact === "function" || everyones.has(fact));
}

const everyones: ReadonlySet<Fact> = new Set<Fact>(["ip", "network", "standard", "path"]);

function factsOf({ options: { by } }: Rule): readonly Fact[] {
  return Array.isArray(by) ? by : [by as Fact];
}

function protects(other: Rule, rule: Rule): boolean {
  if (!countsEveryone(other) || other.isShadow || other.options.except !== undefined) return false;
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
