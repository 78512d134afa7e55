import { type Charge, type Check, costOf, isOffence, markCrossed, verdictOf } from "../../check.js";
import type { Verdict } from "../../decision.js";
import { type Limit, maxCells, Reading, Ruling } from "../../limit.js";
import { endOfTime, freshState, type PackedState, packState, unpackState } from "../packed/packed-state.js";

/** Packed bytes, or nothing yet. */
export type Bytes = Uint8Array | undefined;

/** The checks of one rule and key, which are counted in one item. */
export interface Group {
  readonly item: string;
  readonly checks: readonly Check[];
  readonly plan: readonly Limit[];
  /** Where its checks stand in the request. */
  readonly at: readonly number[];
}

export function groupsOf(checks: readonly Check[], itemOf: (rule: string, key: string) => string): Group[] {
  const groups = new Map<string, { item: string; checks: Check[]; plan: Limit[]; at: number[] }>();
  checks.forEach((check, i) => {
    const item = itemOf(check.rule, check.key);
    let group = groups.get(item);
    if (group === undefined) {
      group = { item, checks: [], plan: [], at: [] };
      groups.set(item, group);
    }
    group.checks.push(check);
    group.plan.push(check.limit);
    group.at.push(i);
  });
  return [...groups.values()];
}

/** What an item's state means for a group, before anything is charged. */
export interface Judgement {
  readonly now: number;
  readonly state: PackedState;
  /** Per check, whether it allows by itself. */
  readonly allowed: readonly boolean[];
  /** Whether all that enforce allow. */
  readonly passes: boolean;
}

const ruling = new Ruling();
const reading = new Reading();

export function judge(group: Group, bytes: Bytes, now: number): Judgement {
  const state = openState(bytes, group.plan, now);
  let passes = true;
  const allowed = group.checks.map((check, i) => {
    check.limit.step(state.cells, i * maxCells, now, costOf(check), ruling);
    const isAllowed = ruling.allowed && !(state.heldUntil > now);
    if (!isAllowed && check.shadow !== true) passes = false;
    return isAllowed;
  });
  return { now, state, allowed, passes };
}

/** The item after the hit, if the hit changes it: charged where allowed, as a refused hit weighs elsewhere. */
export function successor(group: Group, judgement: Judgement, passes: boolean): Bytes {
  const { now } = judgement;
  let after: PackedState | undefined;
  group.checks.forEach((check, i) => {
    const { limit } = check;
    const offends = isOffender(group, judgement, i);
    const isCharged = passes && judgement.allowed[i] === true;
    if (limit.countsOffences === true ? !offends : !isCharged && limit.refusedWeight === 0) return;
    after ??= copyOf(judgement.state);
    const at = i * maxCells;
    limit.step(after.cells, at, now, costOf(check), ruling);
    const cells = isCharged && !offends ? ruling.ifAllowed : ruling.ifRefused;
    if (offends) holdFor(after, ruling.holdUntil);
    for (let c = 0; c < limit.cells; c++) after.cells[at + c] = cells[c] as number;
    limit.read(after.cells, at, now, costOf(check), reading);
    after.ends = Math.min(endOfTime, Math.max(after.ends, reading.expiresAt));
  });
  return after && packState(after, group.plan);
}

/** `passes` tells how the whole decision went, or that it was only a peek. */
export function verdictsOf(group: Group, judgement: Judgement, passes: boolean | "peek"): Verdict[] {
  const { now, state, allowed } = judgement;
  return group.checks.map((check, i) => {
    const { limit } = check;
    const cost = costOf(check);
    const isAllowed = allowed[i] === true;
    ruling.delayMs = ruling.estimate = Number.NaN;
    limit.step(state.cells, i * maxCells, now, cost, ruling);
    const offends = passes !== "peek" && isOffender(group, judgement, i);
    const isKept = limit.countsOffences === true ? !offends : passes && isAllowed;
    if (passes === "peek") limit.read(state.cells, i * maxCells, now, cost, reading);
    else limit.read(isKept ? ruling.ifAllowed : ruling.ifRefused, 0, now, cost, reading);
    const verdict = verdictOf(check, check.key, ruling, reading, isAllowed, now, state.heldUntil);
    if (offends && ruling.holdUntil > 0) markCrossed(verdict, ruling.holdUntil);
    return verdict;
  });
}

function isOffender({ checks }: Group, { now, state, allowed }: Judgement, at: number): boolean {
  return isOffence(checks, at, state.heldUntil, now, (i) => allowed[i] === true);
}

/** The item after a charge was given back. What is not there needs nothing back. */
export function refunded(bytes: Bytes, charge: Charge, now: number): Bytes {
  if (bytes === undefined) return bytes;
  const plan = [charge.limit];
  const state = openState(bytes, plan, now);
  charge.limit.refund(state.cells, 0, now, charge);
  return packState(state, plan);
}

export function held(bytes: Bytes, now: number, forMs: number): Bytes {
  const state = openState(bytes, [], now);
  holdFor(state, now + forMs);
  return packState(state, []);
}

function holdFor(state: PackedState, until: number): void {
  if (until === 0) return;
  state.heldUntil = Math.min(endOfTime, until);
  state.ends = Math.max(state.ends, state.heldUntil);
}

function openState(bytes: Bytes, plan: readonly Limit[], now: number): PackedState {
  return (bytes && unpackState(bytes, plan, now)) ?? freshState(plan);
}

function copyOf(state: PackedState): PackedState {
  return { ...state, cells: state.cells.slice() };
}
