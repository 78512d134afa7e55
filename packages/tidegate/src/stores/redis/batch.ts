import { type Charge, type Check, costOf, verdictOf } from "../../check.js";
import type { Verdict } from "../../decision.js";
import { StoreError } from "../../errors.js";
import { type Limit, maxCells, Reading, Ruling } from "../../limit.js";
import { keyText } from "../packed/key-text.js";
import { type Group, groupsOf, noLimits, type Plan } from "./plan.js";

/** What the script is asked to do. The numbers are its modes. */
export const Mode = { decide: 0, peek: 1, refund: 2, hold: 3 } as const;
export type Mode = (typeof Mode)[keyof typeof Mode];

/** One call of the script: keys, then the input, then ids. */
export interface Call {
  readonly keys: string[];
  readonly input: Buffer;
  readonly ids: string[];
}

export interface Request {
  readonly checks: readonly Check[];
  readonly groups: readonly Group[];
}

export function requestOf(checks: readonly Check[]): Request {
  return { checks, groups: groupsOf(checks) };
}

export type KeyOf = (rule: string, key: string) => string;

const headBytes = 20;

/** Writes what every input begins with: the head and the plans. */
function writeHead(
  input: Buffer,
  mode: Mode,
  keys: readonly string[],
  plans: readonly Plan[],
  now: number,
  notAfter: number,
): number {
  let at = headBytes;
  for (const plan of plans) at += plan.spec.copy(input, at);
  input.writeDoubleLE(now, 0);
  input.writeDoubleLE(notAfter, 8);
  input.writeUInt8(mode, 16);
  input.writeUInt8(keys.length === 1 || new Set(keys).size === keys.length ? 1 : 0, 17);
  input.writeUInt16LE(at - headBytes, 18);
  return at;
}

/** Whatever is sent of this call from now on, for the first time or again, comes too late and has no effect. */
export function voidCall(call: Call): void {
  call.input.writeDoubleLE(Number.NEGATIVE_INFINITY, 8);
}

export function isVoid(call: Call): boolean {
  return call.input.readDoubleLE(8) === Number.NEGATIVE_INFINITY;
}

/** Adds the plans that are not yet in this batch. Answers how many bytes they take. */
function numberPlans(groups: readonly Group[], plans: Plan[], batch: object): number {
  let bytes = 0;
  for (const { plan } of groups) {
    if (plan.batch === batch) continue;
    plan.batch = batch;
    plan.index = plans.push(plan);
    bytes += plan.spec.length;
  }
  return bytes;
}

function addKeys(keys: string[], group: Group, keyOf: KeyOf): void {
  const key = keyOf(group.first.rule, group.first.key);
  keys.push(key);
  for (const limit of group.plan.limits) if (limit.ledger !== undefined) keys.push(ledgerKey(key, limit));
}

export function ledgerKey(key: string, limit: Limit): string {
  return `${key}:${limit.id}`;
}

function flagsOf(check: Check): number {
  return (check.shadow === true ? 1 : 0) + (check.id !== undefined ? 2 : 0);
}

/** NaN for `now` leaves the time to the server. Requests alike in shape and following each other are described once. */
export function writeRequests(
  mode: typeof Mode.decide | typeof Mode.peek,
  requests: readonly Request[],
  keyOf: KeyOf,
  now: number,
  notAfter: number,
): Call {
  const runs: Run[] = [];
  const plans: Plan[] = [];
  const call = { keys: [] as string[], ids: [] as string[] };
  let bytes = headBytes;
  let run: Run | undefined;
  for (const request of requests) {
    if (run === undefined || !isAlike(run.shape, request)) {
      run = { shape: request, count: 0 };
      runs.push(run);
      bytes += 3 + request.groups.length * 11 + numberPlans(request.groups, plans, requests);
    }
    run.count++;
    for (const group of request.groups) {
      addKeys(call.keys, group, keyOf);
      if (group.first.id !== undefined) call.ids.push(keyText(group.first.id));
    }
  }
  const input = Buffer.allocUnsafe(bytes);
  let at = writeHead(input, mode, call.keys, plans, now, notAfter);
  for (const { shape, count } of runs) {
    at = input.writeUInt16LE(count, at);
    at = input.writeUInt8(shape.groups.length, at);
    for (const { plan, first } of shape.groups) {
      at = input.writeUInt16LE(plan.index, at);
      at = input.writeUInt8(flagsOf(first), at);
      at = input.writeDoubleLE(costOf(first), at);
    }
  }
  return { ...call, input };
}

interface Run {
  readonly shape: Request;
  count: number;
}

function isAlike(a: Request, b: Request): boolean {
  if (a.groups.length !== b.groups.length) return false;
  for (let g = 0; g < a.groups.length; g++) {
    const one = a.groups[g] as Group;
    const other = b.groups[g] as Group;
    if (
      one.plan !== other.plan ||
      costOf(one.first) !== costOf(other.first) ||
      flagsOf(one.first) !== flagsOf(other.first)
    )
      return false;
  }
  return true;
}

export function writeRefund(charges: readonly Charge[], keyOf: KeyOf, now: number, notAfter: number): Call {
  const groups = groupsOf(charges);
  const plans: Plan[] = [];
  const bytes = numberPlans(groups, plans, groups);
  const input = Buffer.allocUnsafe(headBytes + bytes + groups.length * 11 + charges.length * 16);
  const call: Call = { keys: [], input, ids: [] };
  for (const group of groups) addKeys(call.keys, group, keyOf);
  let at = writeHead(input, Mode.refund, call.keys, plans, now, notAfter);
  for (const group of groups) {
    const first = group.first as Charge;
    if (first.id !== undefined) call.ids.push(keyText(first.id));
    at = input.writeUInt16LE(group.plan.index, at);
    at = input.writeUInt8(flagsOf(first), at);
    at = input.writeDoubleLE(first.at ?? Number.NaN, at);
    for (const i of group.at) {
      const charge = charges[i] as Charge;
      at = input.writeDoubleLE(costOf(charge), at);
      at = input.writeDoubleLE(charge.resetAfterMs ?? Number.POSITIVE_INFINITY, at);
    }
  }
  return call;
}

export function writeHold(key: string, forMs: number, now: number, notAfter: number): Call {
  const plan = noLimits;
  const input = Buffer.allocUnsafe(headBytes + plan.spec.length + 8);
  input.writeDoubleLE(forMs, writeHead(input, Mode.hold, [key], [plan], now, notAfter));
  return { keys: [key], input, ids: [] };
}

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

const headOfReply = 12;
const headOfState = 16;

/** A reply, read from front to back. */
export class Reply {
  readonly now: number;
  readonly isLate: boolean;
  readonly resets: number;
  readonly #view: DataView;
  readonly #findings: Finding[] = [];
  #at = headOfReply;

  constructor(bytes: Buffer) {
    if (bytes.length < 8) throw unreadable();
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.now = this.#view.getFloat64(0, true);
    this.isLate = bytes.length === 8;
    this.resets = this.isLate ? 0 : this.#view.getUint32(8, true);
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
      if (error instanceof RangeError) throw unreadable();
      throw error;
    }
    return findings;
  }

  #readGroup(group: Group): void {
    const view = this.#view;
    const { limits, stateBytes } = group.plan;
    const bits = view.getUint32(this.#at, true);
    const isKnown = (bits & 1) === 1;
    let stateAt = this.#at + 4;
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
        for (let c = 0; c < limit.ledger.facts; c++, factsAt += 8) cells[c] = view.getFloat64(factsAt, true);
      } else if (isKnown) {
        stateAt += 4;
        for (let c = 0; c < limit.cells; c++, stateAt += 8) cells[c] = view.getFloat64(stateAt, true);
      } else {
        cells.fill(0);
      }
    }
    this.#at = factsAt;
  }
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

/** Whether all checks that enforce allow. */
export function allPass(findings: readonly Finding[]): boolean {
  for (const { allowed, check } of findings) if (!allowed && check.shadow !== true) return false;
  return true;
}

const ruling = new Ruling();
const reading = new Reading();

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
    ruling.delayMs = Number.NaN;
    ruling.estimate = Number.NaN;
    limit.step(cells, 0, now, cost, ruling);
    limit.read(
      isPeek ? cells : passes && allowed ? ruling.ifAllowed : ruling.ifRefused,
      0,
      now,
      cost,
      reading,
    );
    verdicts[i] = verdictOf(check, ruling, reading, allowed, now, heldUntil);
  }
  return verdicts;
}
