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
  /** Its place in the batch being written. */
  batch: object | undefined;
  index: number;
}

/** Checks of one rule and key, which are counted in one place. */
export interface Group {
  readonly plan: Plan;
  readonly first: Check;
  /** Where its checks stand in the request. */
  readonly at: readonly number[];
}

const known = new WeakMap<Limit, Plan[]>();
export const noLimits: Plan = {
  limits: [],
  spec: Buffer.from([0]),
  stateBytes: 16,
  batch: undefined,
  index: 0,
};

/** The plan of the checks standing at these places. */
function planOf(checks: readonly Check[], at: readonly number[]): Plan {
  const first = (checks[at[0] as number] as Check).limit;
  let plans = known.get(first);
  if (plans === undefined) {
    plans = [];
    known.set(first, plans);
  }
  for (const plan of plans) if (isPlanOf(plan, checks, at)) return plan;
  const plan = encode(at.map((i) => (checks[i] as Check).limit));
  // Customers' own limits come and go: what is not asked for again is not kept for ever.
  if (plans.length >= 64) plans.length = 0;
  plans.push(plan);
  return plan;
}

function isPlanOf(plan: Plan, checks: readonly Check[], at: readonly number[]): boolean {
  if (plan.limits.length !== at.length) return false;
  for (let i = 0; i < at.length; i++)
    if (plan.limits[i] !== (checks[at[i] as number] as Check).limit) return false;
  return true;
}

function encode(limits: readonly Limit[]): Plan {
  const bytes: number[] = [limits.length];
  let stateBytes = 16;
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
    const spec = Buffer.alloc(6 + limit.args.length * 8);
    spec.writeUInt8(kind + 1, 0);
    spec.writeUInt32LE(limit.cells > 0 ? tagOf(limit) : 0, 1);
    spec.writeUInt8(limit.args.length, 5);
    limit.args.forEach((arg, i) => {
      spec.writeDoubleLE(arg, 6 + i * 8);
    });
    bytes.push(...spec);
    if (limit.cells > 0) stateBytes += 4 + limit.cells * 8;
  }
  return { limits, spec: Buffer.from(bytes), stateBytes, batch: undefined, index: 0 };
}

/** The first so many places. */
const firstPlaces: readonly (readonly number[])[] = Array.from({ length: 33 }, (_, n) =>
  Array.from({ length: n }, (_, i) => i),
);

/** What one rule asks about one key, each rule and key once. */
export function groupsOf(checks: readonly Check[]): Group[] {
  const first = checks[0] as Check;
  let alike = 1;
  while (alike < checks.length && isTogether(first, checks[alike] as Check)) alike++;
  if (alike === checks.length && alike < firstPlaces.length) {
    const at = firstPlaces[alike] as readonly number[];
    return [{ plan: planOf(checks, at), first, at }];
  }
  const places: number[][] = [];
  for (let i = 0; i < checks.length; i++) {
    const check = checks[i] as Check;
    const place = places.find((at) => isTogether(checks[at[0] as number] as Check, check));
    if (place === undefined) places.push([i]);
    else place.push(i);
  }
  return places.map((at) => ({ plan: planOf(checks, at), first: checks[at[0] as number] as Check, at }));
}

function isTogether(a: Check, b: Check): boolean {
  return a.key === b.key && a.rule === b.rule;
}
