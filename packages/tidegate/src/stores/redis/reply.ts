import {
  addEstimates,
  type Check,
  costOf,
  isOffence,
  markCrossed,
  plainVerdict,
  verdictOf,
} from "../../check.js";
import type { Verdict } from "../../decision.js";
import type { Docket, LevelCheck, RuleChecks } from "../../docket.js";
import { StoreError } from "../../errors.js";
import { type Limit, maxCells, Reading, Ruling } from "../../limit.js";
import type { Group } from "./plan.js";
import type { Request } from "./requests.js";

/** What the script found for one check: the state before (or a ledger's facts), and whether its limit allowed by itself. */
export class Finding {
  check: Check;
  allowed = false;
  heldUntil = 0;
  readonly cells: Float64Array = new Float64Array(maxCells);

  constructor(check: Check) {
    this.check = check;
  }
}

const headOfReply = 14;
const exceptionBytes = 6;
/** Before all cells of a packed state stand the hold and the end of the key, before each limit's its tag. */
const headOfState = 16;
const tagBytes = 4;
// Of the check in hand: nothing else runs between writing and reading them.
const cells = new Float64Array(maxCells);
const ruling = new Ruling();
const reading = new Reading();

/** A reply, read from front to back. */
export class Reply {
  readonly now: number;
  readonly isLate: boolean;
  readonly resets: number;
  readonly #view: DataView;
  readonly #findings: Finding[] = [];
  #at = headOfReply;
  #exceptionAt = headOfReply;
  readonly #exceptionsEnd: number = headOfReply;
  /** In the call's keys, from 1. */
  #place = 1;

  constructor(bytes: Buffer) {
    if (bytes.length < 8) throw unreadable();
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.now = this.#view.getFloat64(0, true);
    this.isLate = bytes.length === 8;
    this.resets = 0;
    if (this.isLate) return;
    if (bytes.length < headOfReply) throw unreadable();
    this.resets = this.#view.getUint32(8, true);
    this.#exceptionsEnd += exceptionBytes * this.#view.getUint16(12, true);
    this.#at = this.#exceptionsEnd;
  }

  /** The findings of the next request, in the order of its checks. The following call reuses them. */
  next(request: Request): readonly Finding[] {
    const findings = this.#findings;
    const { checks, groups } = request;
    findings.length = Math.min(findings.length, checks.length);
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as Check;
      if (i < findings.length) (findings[i] as Finding).check = check;
      else findings.push(new Finding(check));
    }
    try {
      for (let g = 0; g < groups.length; g++) this.#readGroup(groups[g] as Group);
    } catch (error) {
      throw asUnreadable(error);
    }
    return findings;
  }

  /**
   * The verdicts of the next request if it makes no exception: each of its groups was known, and every limit allows, as most
   * do. Undefined, with nothing read, where there is more to it: `next` tells.
   */
  verdictsWithin(docket: Docket, groups: readonly Group[], size: number): Verdict[] | undefined {
    if (this.#isExceptedWithin(groups.length)) return undefined;
    const verdicts = new Array<Verdict>(size);
    const view = this.#view;
    const { now } = this;
    let stateAt = this.#at;
    let place = 0;
    try {
      for (let g = 0; g < groups.length; g++) {
        const { levels } = docket.asked[g] as RuleChecks;
        const key = docket.keys[g] as string;
        stateAt += headOfState;
        for (let i = 0; i < levels.length; i++) {
          const level = levels[i] as LevelCheck;
          const { limit } = level;
          stateAt += tagBytes;
          for (let c = 0; c < limit.cells; c++, stateAt += 8) cells[c] = view.getFloat64(stateAt, true);
          ruling.delayMs = Number.NaN;
          ruling.estimate = Number.NaN;
          limit.step(cells, 0, now, 1, ruling);
          limit.read(ruling.ifAllowed, 0, now, 1, reading);
          const verdict = plainVerdict(level, key, level.name, reading, now);
          addEstimates(verdict, ruling);
          verdicts[place++] = verdict;
        }
      }
    } catch (error) {
      throw asUnreadable(error);
    }
    this.#at = stateAt;
    this.#place += groups.length;
    return verdicts;
  }

  #isExceptedWithin(places: number): boolean {
    return (
      this.#exceptionAt !== this.#exceptionsEnd &&
      this.#view.getUint16(this.#exceptionAt, true) < this.#place + places
    );
  }

  /** Which limits of the next group allow and whether there was a state: all and yes, unless an exception says otherwise. */
  #bitsHere(): number {
    const at = this.#exceptionAt;
    if (at === this.#exceptionsEnd || this.#view.getUint16(at, true) !== this.#place) return -1;
    this.#exceptionAt = at + exceptionBytes;
    return this.#view.getUint32(at + 2, true);
  }

  #readGroup(group: Group): void {
    const view = this.#view;
    const { limits, stateBytes } = group.plan;
    const bits = this.#bitsHere();
    const isKnown = (bits & 1) === 1;
    let stateAt = this.#at;
    this.#place++;
    let factsAt = isKnown ? stateAt + stateBytes : stateAt;
    const heldUntil = isKnown ? view.getFloat64(stateAt, true) : 0;
    stateAt += headOfState;
    for (let i = 0; i < limits.length; i++) {
      const limit = limits[i] as Limit;
      const finding = this.#findings[group.at[i] as number] as Finding;
      const { cells } = finding;
      finding.allowed = (bits & (2 << i)) !== 0;
      finding.heldUntil = heldUntil;
      if (limit.ledger !== undefined) {
        this.#place++;
        for (let c = 0; c < limit.ledger.facts; c++, factsAt += 8) cells[c] = view.getFloat64(factsAt, true);
      } else if (isKnown) {
        stateAt += tagBytes;
        for (let c = 0; c < limit.cells; c++, stateAt += 8) cells[c] = view.getFloat64(stateAt, true);
      } else {
        cells.fill(0);
      }
    }
    this.#at = factsAt;
  }
}

/** What ends before all was read. */
function asUnreadable(error: unknown): unknown {
  return error instanceof RangeError ? unreadable() : error;
}

function unreadable(): StoreError {
  return new StoreError(
    "TG_STORE_REPLY",
    "redis",
    "the script's reply can not be read.",
    "Something between Tidegate and Redis changes replies.",
    { transient: false },
  );
}

/** What the next request of a reply comes to. */
export function verdictsIn(reply: Reply, request: Request, isPeek: boolean): Verdict[] {
  const findings = reply.next(request);
  return verdictsOf(findings, reply.now, allPass(findings), isPeek);
}

/** Whether all checks that enforce allow. */
export function allPass(findings: readonly Finding[]): boolean {
  for (const { allowed, check } of findings) if (!allowed && check.shadow !== true) return false;
  return true;
}

/** The verdicts, worked out by the same step the memory store runs, from the state Redis had; who was allowed is Redis's word. */
export function verdictsOf(
  findings: readonly Finding[],
  now: number,
  passes: boolean,
  isPeek: boolean,
): Verdict[] {
  const verdicts = new Array<Verdict>(findings.length);
  for (let i = 0; i < findings.length; i++) {
    const { check, allowed, cells, heldUntil } = findings[i] as Finding;
    const limit = check.limit;
    const cost = costOf(check);
    const offends = limit.countsOffences === true && !isPeek && isOffender(findings, i, now);
    const isKept = limit.countsOffences === true ? !offends : passes && allowed;
    ruling.delayMs = Number.NaN;
    ruling.estimate = Number.NaN;
    limit.step(cells, 0, now, cost, ruling);
    limit.read(isPeek ? cells : isKept ? ruling.ifAllowed : ruling.ifRefused, 0, now, cost, reading);
    const verdict = verdictOf(check, check.key, ruling, reading, allowed, now, heldUntil);
    if (offends && ruling.holdUntil > 0) markCrossed(verdict, ruling.holdUntil);
    verdicts[i] = verdict;
  }
  return verdicts;
}

function isOffender(findings: readonly Finding[], at: number, now: number): boolean {
  const { heldUntil } = findings[at] as Finding;
  const checks = findings.map(({ check }) => check);
  return isOffence(checks, at, heldUntil, now, (i) => (findings[i] as Finding).allowed);
}
