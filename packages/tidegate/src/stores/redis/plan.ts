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
const noLimits: Plan = { limits: [], spec: Buffer.from([0]), stateBytes: 8, batch: undefined, index: 0 };

export function planOf(limits: readonly Limit[]): Plan {
  const first = limits[0];
  if (first === undefined) return noLimits;
  let plans = known.get(first);
  if (plans === undefined) {
    plans = [];
    known.set(first, plans);
  }
  for (const plan of plans) {
    if (plan.limits.length === limits.length && plan.limits.every((limit, i) => limit === limits[i]))
      return plan;
  }
  const plan = encode(limits.slice());
  if (plans.length >= 64) plans.length = 0;
  plans.push(plan);
  return plan;
}

function encode(limits: readonly Limit[]): Plan {
  const bytes: number[] = [limits.length];
  let stateBytes = 8;
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
    if (limit.cells > 0) stateBytes += 12 + limit.cells * 8;
  }
  return { limits, spec: Buffer.from(bytes), stateBytes, batch: undefined, index: 0 };
}

const single: readonly number[] = [0];

export function groupsOf(checks: readonly Check[]): Group[] {
  const only = checks[0] as Check;
  if (checks.length === 1) return [{ plan: planOf([only.limit]), first: only, at: single }];
  const places = new Map<string, number[]>();
  checks.forEach((check, i) => {
    const place = `${check.rule}\n${check.key}`;
    const at = places.get(place);
    if (at === undefined) places.set(place, [i]);
    else at.push(i);
  });
  return Array.from(places.values(), (at) => ({
    plan: planOf(at.map((i) => (checks[i] as Check).limit)),
    first: checks[at[0] as number] as Check,
    at,
  }));
}
