import type { Check } from "../../check.js";
import { ConfigError, shown } from "../../errors.js";
import type { Limit } from "../../limit.js";
import { tagOf } from "../packed/tag.js";
import { kinds } from "./script.generated.js";

/** What one rule asks about one key, the limits in order, as the script reads them. */
export interface Plan {
  readonly limits: readonly Limit[];
  readonly spec: Buffer;
  /** Bytes of the packed state in this plan's layout. */
  readonly stateBytes: number;
  /** How many of its limits have a key of their own. */
  readonly ledgers: number;
  /** The script's number for the question about one key by this plan alone. */
  readonly question: number;
  /** Its groups by where their first check stands, each made once: requests alike in shape share them. */
  readonly groups: Group[];
  /** The groups of a request that asks by this plan alone. */
  readonly alone: readonly Group[];
}

/** Checks of one rule and key, which are counted in one place. */
export interface Group {
  readonly plan: Plan;
  /** Where its checks stand in the request. They agree in all but their limits, so the first speaks for all. */
  readonly at: readonly number[];
}

/** Every limit has room for so many numbers; a ladder of offences has its further ones behind them. */
const leastArgs = 4;

function limitBytes({ args }: Limit): number {
  return 13 + Math.max(leastArgs, args.length) * 8;
}

const known = new WeakMap<Limit, Plan[]>();
export const noLimits: Plan = encode([]);

/** As far as a plan goes by it. */
type OfLimit = Pick<Check, "limit">;

/** The plan of the checks from one place to before another. */
export function planOf(checks: readonly OfLimit[], from: number, to: number): Plan {
  const first = (checks[from] as OfLimit).limit;
  let plans = known.get(first);
  if (plans === undefined) {
    plans = [];
    known.set(first, plans);
  }
  for (const plan of plans) if (isPlanOf(plan, checks, from, to)) return plan;
  const plan = encode(checks.slice(from, to).map(({ limit }) => limit));
  // Customers' own limits come and go: what is not asked for again is not kept for ever.
  if (plans.length >= 64) plans.length = 0;
  plans.push(plan);
  return plan;
}

function isPlanOf({ limits }: Plan, checks: readonly OfLimit[], from: number, to: number): boolean {
  if (limits.length !== to - from) return false;
  for (let i = 0; i < limits.length; i++) if (limits[i] !== (checks[from + i] as OfLimit).limit) return false;
  return true;
}

function encode(limits: readonly Limit[]): Plan {
  const spec = Buffer.alloc(limits.reduce((bytes, limit) => bytes + limitBytes(limit), 1));
  let at = spec.writeUInt8(limits.length, 0);
  for (const limit of limits) {
    const kind = kinds.indexOf(limit.kind);
    if (kind < 0) {
      throw new ConfigError(
        "TG_LIMIT_KIND",
        "limit",
        `the Redis store does not know ${shown(limit.kind)}.`,
        `It knows ${kinds.join(", ")}; a limit of your own needs a Lua twin, or the memory store.`,
      );
    }
    at = spec.writeUInt8(kind + 1, at);
    at = spec.writeUInt32LE(limit.cells > 0 ? tagOf(limit) : 0, at);
    at = spec.writeDoubleLE(limit.refusedWeight, at);
    for (let i = 0; i < Math.max(leastArgs, limit.args.length); i++)
      at = spec.writeDoubleLE(limit.args[i] ?? 0, at);
  }
  const cells = limits.map((limit) => limit.cells);
  const groups: Group[] = [];
  const alone: Group[] = [];
  const plan: Plan = {
    limits,
    spec,
    stateBytes: cells.reduce((sum, n) => (n > 0 ? sum + 4 + n * 8 : sum), 16),
    ledgers: limits.filter((limit) => limit.ledger !== undefined).length,
    question: limits.some((limit) => limit.countsOffences) ? 0 : questionOf(cells),
    groups,
    alone,
  };
  alone.push(groupFrom(plan, 0));
  return plan;
}

function questionOf(cells: readonly number[]): number {
  if (cells.length <= 3 && cells.every((n) => n === 2)) return cells.length;
  return cells.length === 1 && cells[0] === 3 ? 4 : 0;
}

/** So many checks side by side. */
export function groupFrom(plan: Plan, from: number): Group {
  const known = plan.groups[from];
  if (known !== undefined) return known;
  const group = { plan, at: plan.limits.map((_, i) => from + i) };
  plan.groups[from] = group;
  return group;
}

/** What one rule asks about one key, each rule and key once. */
export function groupsOf(checks: readonly Check[]): readonly Group[] {
  const first = groupAt(checks, 0);
  if (first.plan.limits.length === checks.length) return first.plan.alone;
  const groups = [first];
  for (let from = first.plan.limits.length; from < checks.length; ) {
    if (isApart(groups, checks, from)) return scattered(checks);
    const group = groupAt(checks, from);
    groups.push(group);
    from += group.plan.limits.length;
  }
  return groups;
}

/** The group that begins here, as far as its checks stand side by side. */
function groupAt(checks: readonly Check[], from: number): Group {
  const first = checks[from] as Check;
  let to = from + 1;
  while (to < checks.length && isTogether(first, checks[to] as Check)) to++;
  return groupFrom(planOf(checks, from, to), from);
}

/** Whether this check is of a group that ended before. */
function isApart(groups: readonly Group[], checks: readonly Check[], at: number): boolean {
  for (let g = 0; g < groups.length; g++)
    if (isTogether(firstOf(checks, (groups[g] as Group).at), checks[at] as Check)) return true;
  return false;
}

/** The same where checks of one rule and key stand apart. */
function scattered(checks: readonly Check[]): readonly Group[] {
  const places: number[][] = [];
  for (let i = 0; i < checks.length; i++) {
    const check = checks[i] as Check;
    const place = places.find((at) => isTogether(firstOf(checks, at), check));
    if (place === undefined) places.push([i]);
    else place.push(i);
  }
  return places.map((at) => {
    const together = at.map((i) => checks[i] as Check);
    return { plan: planOf(together, 0, together.length), at };
  });
}

/** What the script is told of a group beside its plan and cost. */
export function flagsOf(plan: Plan, first: Check): number {
  return (first.shadow === true ? 1 : 0) + (hasId(plan, first) ? 2 : 0);
}

/** Only a ledger looks at an id. */
export function hasId(plan: Plan, check: Check): check is Check & { readonly id: string } {
  return plan.ledgers > 0 && check.id !== undefined;
}

export function firstOf<T extends Check>(checks: readonly T[], at: readonly number[]): T {
  return checks[at[0] as number] as T;
}

function isTogether(a: Check, b: Check): boolean {
  return a.key === b.key && a.rule === b.rule;
}
