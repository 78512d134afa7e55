import type { Check } from "../../check.js";
import type { Verdict } from "../../decision.js";
import type { Docket, RuleChecks } from "../../docket.js";
import { keyText } from "../packed/key-text.js";
import type { CallKeys } from "./call-keys.js";
import { type Group, groupFrom, type Plan, planOf } from "./plan.js";
import { type Reply, verdictsIn } from "./reply.js";
import type { Request } from "./requests.js";

/** Dockets as one store asks about them. */
export class Dockets {
  readonly keyStart: string;
  readonly #keyEndOf: (rule: string) => string;

  constructor(keyStart: string, keyEndOf: (rule: string) => string) {
    this.keyStart = keyStart;
    this.#keyEndOf = keyEndOf;
  }

  /** Undefined where some limit has keys of its own: these are asked about check by check. */
  requestOf(docket: Docket): Request | undefined {
    const { asked, count } = docket;
    const groups = new Array<Group>(count);
    let size = 0;
    for (let i = 0; i < count; i++) {
      const { plan } = this.planned(asked[i] as RuleChecks);
      if (plan.ledgers > 0) return undefined;
      groups[i] = groupFrom(plan, size);
      size += plan.limits.length;
    }
    return new DocketRequest(this, docket, groups, size);
  }

  planned(asked: RuleChecks): PlannedChecks {
    const { found } = asked;
    if (found !== undefined && found.by === this) return found as PlannedChecks;
    const { rule, levels } = asked;
    const planned = new PlannedChecks(this, planOf(levels, 0, levels.length), this.#keyEndOf(rule));
    asked.found = planned;
    return planned;
  }
}

/** What a store has found out about a rule's checks: how the script is asked about them, and what their keys end with. */
class PlannedChecks {
  readonly by: object;
  readonly plan: Plan;
  readonly keyEnd: string;

  constructor(by: object, plan: Plan, keyEnd: string) {
    this.by = by;
    this.plan = plan;
    this.keyEnd = keyEnd;
  }
}

/** Its checks are made only where more is to be told of them than that they allow. */
class DocketRequest implements Request {
  readonly groups: readonly Group[];
  readonly size: number;
  readonly #dockets: Dockets;
  readonly #docket: Docket;
  #checks: readonly Check[] | undefined;

  constructor(dockets: Dockets, docket: Docket, groups: readonly Group[], size: number) {
    this.#dockets = dockets;
    this.#docket = docket;
    this.groups = groups;
    this.size = size;
  }

  get checks(): readonly Check[] {
    this.#checks ??= this.#docket.checks();
    return this.#checks;
  }

  addKeys(call: CallKeys): void {
    const { asked, keys, count } = this.#docket;
    const { keyStart } = this.#dockets;
    for (let i = 0; i < count; i++) {
      const checks = asked[i] as RuleChecks;
      const key = keys[i] as string;
      call.add(checks.rule, key, keyStart + keyText(key) + this.#dockets.planned(checks).keyEnd);
    }
  }

  isLike(other: Request): boolean {
    return other instanceof DocketRequest && haveSamePlans(this.groups, other.groups);
  }

  verdictsIn(reply: Reply, isPeek: boolean): Verdict[] {
    return reply.verdictsWithin(this.#docket, this.groups, this.size) ?? verdictsIn(reply, this, isPeek);
  }
}

function haveSamePlans(groups: readonly Group[], others: readonly Group[]): boolean {
  if (groups.length !== others.length) return false;
  for (let g = 0; g < groups.length; g++)
    if ((groups[g] as Group).plan !== (others[g] as Group).plan) return false;
  return true;
}
