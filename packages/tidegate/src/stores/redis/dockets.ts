import { addEstimates, type Check, plainVerdict } from "../../check.js";
import type { Verdict } from "../../decision.js";
import type { Docket, LevelCheck, RuleChecks } from "../../docket.js";
import { maxCells, Reading, Ruling } from "../../limit.js";
import { keyText } from "../packed/key-text.js";
import {
  type Call,
  type FirstPlaces,
  firstPlace,
  Mode,
  type Repeat,
  type Request,
  runsOf,
  writeRuns,
} from "./batch.js";
import { type Group, groupFrom, type Plan, planOf } from "./plan.js";
import { headOfState, type Reply, tagBytes } from "./reply.js";

/** A docket to be decided in one call with others. Its checks are made only where more is to be told of them than that they allow. */
export class DocketRequest implements Request {
  readonly docket: Docket;
  readonly groups: readonly Group[];
  readonly size: number;
  #checks: readonly Check[] | undefined;

  constructor(docket: Docket, groups: readonly Group[], size: number) {
    this.docket = docket;
    this.groups = groups;
    this.size = size;
  }

  get checks(): readonly Check[] {
    this.#checks ??= this.docket.checks();
    return this.#checks;
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

/** Dockets as one store asks about them. */
export class Dockets {
  readonly #keyStart: string;
  readonly #keyEndOf: (rule: string) => string;

  constructor(keyStart: string, keyEndOf: (rule: string) => string) {
    this.#keyStart = keyStart;
    this.#keyEndOf = keyEndOf;
  }

  /** Undefined where some limit has keys of its own: these are asked about check by check. */
  requestOf(docket: Docket): DocketRequest | undefined {
    const { asked, count } = docket;
    const groups = new Array<Group>(count);
    let size = 0;
    for (let i = 0; i < count; i++) {
      const { plan } = this.#planned(asked[i] as RuleChecks);
      if (plan.ledgers > 0) return undefined;
      groups[i] = groupFrom(plan, size);
      size += plan.limits.length;
    }
    return new DocketRequest(docket, groups, size);
  }

  write(requests: readonly DocketRequest[], now: number, notAfter: number): Call {
    const keys: string[] = [];
    const repeats: Repeat[] = [];
    const places: FirstPlaces = new Map();
    for (let i = 0; i < requests.length; i++) {
      const { asked, keys: names, count } = (requests[i] as DocketRequest).docket;
      for (let g = 0; g < count; g++) {
        const name = names[g] as string;
        const { keyEnd } = this.#planned(asked[g] as RuleChecks);
        const place = keys.push(this.#keyStart + keyText(name) + keyEnd);
        const first = firstPlace(places, keyEnd, name, place);
        if (first < place) repeats.push({ place, first });
      }
    }
    const input = writeRuns(Mode.decide, runsOf(requests, haveSamePlans), repeats, now, notAfter);
    return { keys, input, ids: [] };
  }

  #planned(asked: RuleChecks): PlannedChecks {
    const { found } = asked;
    if (found !== undefined && found.by === this) return found as PlannedChecks;
    const { rule, levels } = asked;
    const planned = new PlannedChecks(this, planOf(levels, 0, levels.length), this.#keyEndOf(rule));
    asked.found = planned;
    return planned;
  }
}

function haveSamePlans({ groups }: DocketRequest, { groups: others }: DocketRequest): boolean {
  if (groups.length !== others.length) return false;
  for (let g = 0; g < groups.length; g++)
    if ((groups[g] as Group).plan !== (others[g] as Group).plan) return false;
  return true;
}

// Of the check in hand: nothing else runs between writing and reading them.
const cells = new Float64Array(maxCells);
const ruling = new Ruling();
const reading = new Reading();

/** What the next request of a reply comes to if all it asks about was known, and allows: most do. Undefined, with nothing read: there is more to it. */
export function verdictsWithin(reply: Reply, request: DocketRequest): Verdict[] | undefined {
  const { docket, groups, size } = request;
  let at = reply.passOver(groups);
  if (at < 0) return undefined;
  const { view, now } = reply;
  const verdicts = new Array<Verdict>(size);
  let place = 0;
  for (let g = 0; g < groups.length; g++) {
    const { levels } = docket.asked[g] as RuleChecks;
    const key = docket.keys[g] as string;
    at += headOfState;
    for (let i = 0; i < levels.length; i++) {
      const level = levels[i] as LevelCheck;
      const { limit } = level;
      at += tagBytes;
      for (let cell = 0; cell < limit.cells; cell++, at += 8) cells[cell] = view.getFloat64(at, true);
      ruling.delayMs = Number.NaN;
      ruling.estimate = Number.NaN;
      limit.step(cells, 0, now, 1, ruling);
      limit.read(ruling.ifAllowed, 0, now, 1, reading);
      const verdict = plainVerdict(level, key, level.name, reading, now);
      addEstimates(verdict, ruling);
      verdicts[place++] = verdict;
    }
  }
  return verdicts;
}
