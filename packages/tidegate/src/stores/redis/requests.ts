import { type Check, costOf } from "../../check.js";
import type { Verdict } from "../../decision.js";
import type { CallKeys } from "./call-keys.js";
import { firstOf, flagsOf, type Group, groupsOf } from "./plan.js";
import { type Reply, verdictsIn } from "./reply.js";

/** One decision, to be made in one call with others. */
export interface Request {
  readonly checks: readonly Check[];
  readonly groups: readonly Group[];
  /** How many checks there are. */
  readonly size: number;
  addKeys(call: CallKeys): void;
  /** Whether the script can be told of both at once: they differ in their keys only. */
  isLike(other: Request): boolean;
  /** What it comes to, if it is the reply's next. */
  verdictsIn(reply: Reply, isPeek: boolean): Verdict[];
}

export class CheckRequest implements Request {
  readonly checks: readonly Check[];
  readonly groups: readonly Group[];

  constructor(checks: readonly Check[]) {
    this.checks = checks;
    this.groups = groupsOf(checks);
  }

  get size(): number {
    return this.checks.length;
  }

  addKeys(call: CallKeys): void {
    const { checks, groups } = this;
    for (let g = 0; g < groups.length; g++) {
      const { plan, at } = groups[g] as Group;
      call.addGroup(plan, firstOf(checks, at));
    }
  }

  isLike(other: Request): boolean {
    return other instanceof CheckRequest && isAlike(this, other);
  }

  verdictsIn(reply: Reply, isPeek: boolean): Verdict[] {
    return verdictsIn(reply, this, isPeek);
  }
}

function isAlike(a: CheckRequest, b: CheckRequest): boolean {
  if (a.groups.length !== b.groups.length) return false;
  for (let g = 0; g < a.groups.length; g++) {
    const { plan, at } = a.groups[g] as Group;
    const other = b.groups[g] as Group;
    if (plan !== other.plan) return false;
    const first = firstOf(a.checks, at);
    const otherFirst = firstOf(b.checks, other.at);
    if (costOf(first) !== costOf(otherFirst) || flagsOf(plan, first) !== flagsOf(plan, otherFirst))
      return false;
  }
  return true;
}
