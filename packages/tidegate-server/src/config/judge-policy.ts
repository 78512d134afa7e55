import {
  ConfigError,
  createGate,
  type IdentityOptions,
  type Limit,
  memoryStore,
  type Policy,
  type RateText,
  type RuleOptions,
  type Warning,
} from "tidegate";
import { memcachedStore } from "tidegate/memcached";
import { type EdgeTerms, judgeEdges } from "./edge-rules.js";
import { type Path, readPath } from "./path.js";
import type { LimitReader } from "./read-limits.js";
import type { ReadPolicy } from "./read-policy.js";
import { type ToldFact, warnOfUntold } from "./untold-facts.js";

/** Where a policy is to hold. */
export interface PolicyTerms {
  /** False where nobody says how a request ended: rules that need to know are refused. */
  readonly canFinish?: boolean;
  readonly identity?: IdentityOptions;
  readonly store?: "memory" | "redis" | "memcached";
  /** Whom the proxy is not told of: rules in force that count them are warned of. Default none. */
  readonly untold?: readonly ToldFact[];
  /** Where offenders go. Default: not looked at. */
  readonly edges?: EdgeTerms;
}

/** Further ones are found once these are corrected. */
const mostRounds = 20;
const mostRulesApart = 300;

/**
 * The library's own judgement of a policy, by building a gate of it. When that fails: without rules, of each rule alone,
 * so that each says what is wrong with it, and of all that are right together.
 */
export function judgePolicy(
  read: ReadPolicy,
  base: Path,
  terms: PolicyTerms,
  { problems, warn }: LimitReader,
): void {
  const { policy } = read;
  const told: Told = (path, error) =>
    problems.addError([...base, ...read.writtenAt(path)], error, helps[error.code]);
  refuseLimits(policy, terms, told);
  if (terms.edges !== undefined) judgeEdges(read, base, terms.edges, { problems, warn });
  const warnings: Warning[] = [];
  if (errorOf(policy, terms, (warning) => warnings.push(warning)) === undefined) {
    for (const warning of warnings)
      warn(warning, [...base, ...read.writtenAt(pathOfWarning(warning, policy))]);
    warnOfUntold(read, base, terms.untold ?? [], { warn });
    return;
  }
  // Lists say nothing of rules, and thousands of addresses read again for each rule would take minutes.
  const { safelist: _, blocklist: __, ...frame } = rightFrame({ ...policy, rules: [] }, terms, told);
  const right: number[] = [];
  for (const [i, rule] of policy.rules.entries()) {
    const wrong = i < mostRulesApart ? wrongWith(rule, frame, terms) : [];
    if (wrong.length === 0) right.push(i);
    for (const { below, error } of wrong) told(["rules", i, ...below], error);
  }
  judgeTogether(frame, right, policy, terms, told);
}

type Told = (path: Path, error: ConfigError) => void;

/** All but the rules, with what is wrong told and put out of the way. */
function rightFrame(policy: Policy, terms: PolicyTerms, told: Told): Policy {
  let frame = policy;
  for (let round = 0; round < mostRounds; round++) {
    const error = errorOf(frame, terms);
    if (error === undefined) return frame;
    const path = readPath(error.path, frame);
    told(path, error);
    frame = without(frame, path);
  }
  return { rules: [] };
}

/** The option at fault is left out; a faulty tier, or an address of a list, is replaced, so that the others keep their places. */
function without(policy: Policy, [option, at]: Path): Policy {
  const { tiers, safelist, blocklist } = policy;
  const list = option === "safelist" ? safelist : option === "blocklist" ? blocklist : undefined;
  if (option === "tiers" && tiers !== undefined) return { ...policy, tiers: replacedTier(tiers, String(at)) };
  if (list !== undefined && typeof at === "number")
    return { ...policy, [option as string]: list.map((one, i) => (i === at ? "192.0.2.1" : one)) };
  const others = Object.entries(policy).filter(([name]) => name !== option);
  return { ...Object.fromEntries(others), rules: [] };
}

function replacedTier(tiers: NonNullable<Policy["tiers"]>, name: string): NonNullable<Policy["tiers"]> {
  const known = Object.keys(tiers).find((each) => each === name || each.slice(0, 64) === name);
  return Object.fromEntries(
    Object.entries(tiers)
      .filter(([each]) => each !== known || /^[\x21-\x7e]{1,64}$/.test(each))
      .filter(([each]) => each !== "override")
      .map(([each, limits]) => [each, each === known ? ["1 per second" as const] : limits]),
  );
}

/** What only shows when rules stand side by side: two of one name, too many questions. */
function judgeTogether(
  frame: Policy,
  right: readonly number[],
  policy: Policy,
  terms: PolicyTerms,
  told: Told,
): void {
  let standing = right;
  for (let round = 0; round < mostRounds; round++) {
    const rules = standing.map((i) => policy.rules[i] as RuleOptions);
    const error = errorOf({ ...frame, rules }, terms);
    if (error === undefined) return;
    const [first, at, ...below] = readPath(error.path, { ...frame, rules });
    if (first !== "rules" || typeof at !== "number") {
      told(["rules"], error);
      return;
    }
    told(["rules", standing[at] as number, ...below], error);
    standing = standing.filter((_, i) => i !== at);
  }
}

function errorOf(
  policy: Policy,
  { canFinish = true, identity = {} }: PolicyTerms,
  onWarning: (warning: Warning) => void = () => {},
): ConfigError | undefined {
  const store = memoryStore({ maxKeys: 16 });
  try {
    void createGate({ ...policy, store, identity, canFinish, onWarning }).close();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** Tells of limits this store can not keep. Nothing is sent to it. */
function refuseLimits({ rules, tiers = {} }: Policy, { store }: PolicyTerms, told: Told): void {
  if (store !== "memcached") return;
  const memcached = memcachedStore({ servers: ["127.0.0.1:11211"] });
  const lists: [Path, unknown][] = [
    ...rules.map(({ limits }, i): [Path, unknown] => [["rules", i, "limits"], limits]),
    ...Object.entries(tiers).map(([name, limits]): [Path, unknown] => [["tiers", name], limits]),
  ];
  for (const [path, limits] of lists) {
    for (const [i, limit] of (Array.isArray(limits) ? (limits as (Limit | string)[]) : []).entries()) {
      try {
        if (typeof limit === "object") memcached.accept?.(limit);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        told([...path, i], error);
      }
    }
  }
  void memcached.close?.();
}

interface Wrong {
  readonly below: Path;
  readonly error: ConfigError;
}

/** In the place of the only limit of a rule; what has nothing to do with limits is still told then. */
const harmless: readonly RateText[] = ["1 per second"];
const apart: ReadonlySet<unknown> = new Set(["name", "by", "only", "except"]);

/** All that is wrong with one rule: a faulty limit is told and left out, so that the next says what is wrong with it. */
function wrongWith(rule: RuleOptions, frame: Policy, terms: PolicyTerms): Wrong[] {
  const found: Wrong[] = [];
  let rest = rule;
  let places = Array.isArray(rule.limits) ? [...rule.limits.keys()] : [];
  for (let round = 0; round < mostRounds; round++) {
    const error = errorOf({ ...frame, rules: [rest] }, terms);
    if (error === undefined) break;
    const [option, at, ...below] = belowRule(error, rest);
    const isLimit = option === "limits" && typeof at === "number" && places.length > 0;
    const path = isLimit ? [option, places[at] as number, ...below] : belowRule(error, rest);
    if (rest.limits === harmless && !apart.has(option)) break;
    found.push({ below: path, error });
    // Of two that clash either may be the wrong one.
    if (!isLimit || error.code === "TG_LIMITS_CLASH") break;
    if (places.length === 1) {
      rest = { ...rest, limits: harmless };
      places = [];
      continue;
    }
    places = places.filter((_, i) => i !== at);
    rest = { ...rest, limits: (rest.limits as readonly (Limit | RateText)[]).filter((_, i) => i !== at) };
  }
  return found;
}

/** An error of a rule judged alone names it `rules[0]`, or only what a limit of it can not take. */
function belowRule({ path }: ConfigError, rule: RuleOptions): Path {
  const [first, at, ...below] = readPath(path, { rules: [rule] });
  return first === "rules" && typeof at === "number" ? below : [];
}

function pathOfWarning({ message }: Warning, { rules }: Policy): Path {
  const at = rules.findIndex(({ name }) => message.includes(`Rule ${JSON.stringify(name)} `));
  return at < 0 ? [] : ["rules", at];
}

/** Where the library can only speak of options of its own. */
const helps: Readonly<Record<string, string>> = {
  TG_RULE_FINISH:
    "Set decide.canFinish: true if callers of the decision service send /v1/finish, or listen.decide: false if there are none; or drop count, clearOnSuccess, trust and concurrency from this rule.",
  TG_MEMCACHED_LEDGER: "Use fixedWindow, slidingCounter, tokenBucket or earrrl here, or store: redis.",
};
