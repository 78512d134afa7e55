import { type LoginOptions, loginRules, type Policy, type RuleOptions } from "tidegate";
import type { Path } from "./path.js";
import type { LoginShape, PolicyShape, RuleShape } from "./policy-shape.js";
import { type LimitLike, type LimitReader, type ReadLimits, readLimits } from "./read-limits.js";

/** A library policy made of what a file says, and the way back from one to the other. */
export interface ReadPolicy {
  readonly policy: Policy;
  /** Where in the file's policy stands what a path in the library's policy means. */
  writtenAt(path: Path): Path;
}

interface ReadRule {
  readonly options: RuleOptions;
  writtenAt(below: Path): Path;
}

/** Reads a policy of the right shape that stands at `base`. */
export function readPolicy(shape: PolicyShape, base: Path, reader: LimitReader): ReadPolicy {
  const rules = shape.rules.flatMap((rule, i) => {
    const at = [...base, "rules", i];
    return "login" in rule ? readLogin(rule.login, at, i, reader) : [readRule(rule, at, i, reader)];
  });
  const tiers = new Map(
    Object.entries(shape.tiers ?? {}).map(([name, limits]) => [
      name,
      readLimits(limits, [...base, "tiers", name], reader),
    ]),
  );
  const { mode, defaultTier, safelist, blocklist } = shape;
  return {
    policy: {
      ...(mode !== undefined && { mode }),
      rules: rules.map(({ options }) => options),
      ...(shape.tiers !== undefined && { tiers: limitsByName(tiers) }),
      ...(defaultTier !== undefined && { defaultTier }),
      ...(safelist !== undefined && { safelist }),
      ...(blocklist !== undefined && { blocklist }),
    },
    writtenAt(path) {
      const [first, second, ...below] = path;
      if (first === "rules" && typeof second === "number")
        return rules[second]?.writtenAt(below) ?? ["rules"];
      const tier = first === "tiers" ? tiers.get(String(second)) : undefined;
      return tier === undefined ? path : ["tiers", String(second), ...entryOf(tier, below)];
    },
  };
}

function limitsByName(tiers: ReadonlyMap<string, ReadLimits>): Record<string, readonly LimitLike[]> {
  return Object.fromEntries([...tiers].map(([name, { limits }]) => [name, limits]));
}

function readRule(rule: RuleShape, at: Path, index: number, reader: LimitReader): ReadRule {
  const isTier = rule.limits === "tier";
  const read = isTier
    ? { limits: [], writtenAt: [] }
    : readLimits(rule.limits as Exclude<RuleShape["limits"], "tier">, [...at, "limits"], reader);
  const options = { ...rule, limits: isTier ? "tier" : read.limits } as RuleOptions;
  return {
    options,
    writtenAt([option, ...below]) {
      if (option === undefined) return ["rules", index];
      if (option !== "limits") return ["rules", index, option, ...below];
      // A single limit stands there without a list.
      return ["rules", index, option, ...(Array.isArray(rule.limits) ? entryOf(read, below) : [])];
    },
  };
}

function entryOf({ writtenAt }: ReadLimits, [index, ...below]: Path): Path {
  if (typeof index !== "number") return [];
  const entry = writtenAt[index];
  return entry === undefined ? [] : [entry, ...below];
}

/** The library's three rules, each of whose limits is an option of the login. */
function readLogin(login: LoginShape, at: Path, index: number, { problems }: LimitReader): ReadRule[] {
  const made = problems.guard([...at, "login"], () => loginRules(login as LoginOptions)) ?? [];
  return made.map((options, i) => ({
    options,
    writtenAt: ([option, ...below]) => ["rules", index, "login", ...loginOption(i, option, below)],
  }));
}

function loginOption(rule: number, option: string | number | undefined, below: Path): Path {
  if (option === "name" || option === "only") return [option, ...below];
  if (option === "limits") return [["pair", "ip", "account"][rule] as string, ...below];
  if (option === "mode") return ["mode"];
  return option === "trust" ? ["trustFor"] : [];
}
