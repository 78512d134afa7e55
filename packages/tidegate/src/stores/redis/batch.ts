import { type Charge, type Check, costOf } from "../../check.js";
import type { Limit } from "../../limit.js";
import { keyText } from "../packed/key-text.js";
import { firstOf, type Group, groupsOf, noLimits, type Plan } from "./plan.js";

/** What the script is asked to do. The numbers are its modes. */
export const Mode = { decide: 0, peek: 1, refund: 2, hold: 3 } as const;
export type Mode = (typeof Mode)[keyof typeof Mode];
/** Those that many requests can be asked with in one call. */
export type Asking = typeof Mode.decide | typeof Mode.peek;

/** One call of the script: keys, then the input, then ids. */
export interface Call {
  readonly keys: string[];
  readonly input: Buffer;
  readonly ids: string[];
}

export interface Request {
  readonly checks: readonly Check[];
  readonly groups: readonly Group[];
  /** How many checks there are. */
  readonly size: number;
}

export function requestOf(checks: readonly Check[]): Request {
  return { checks, groups: groupsOf(checks), size: checks.length };
}

export type KeyOf = (rule: string, key: string) => string;

const headBytes = 19;
const repeatBytes = 4;
const runBytes = 4;
const groupBytes = 9;

function writeHead(
  input: Buffer,
  mode: Mode,
  repeats: readonly Repeat[],
  now: number,
  notAfter: number,
): number {
  input.writeDoubleLE(now, 0);
  input.writeDoubleLE(notAfter, 8);
  input.writeUInt8(mode, 16);
  let at = input.writeUInt16LE(repeats.length, 17);
  for (const { place, first } of repeats) at = input.writeUInt16LE(first, input.writeUInt16LE(place, at));
  return at;
}

function writePlan(input: Buffer, at: number, plan: Plan, flags: number, cost: number): number {
  input.writeUInt8(flags, at);
  input.writeDoubleLE(cost, at + 1);
  return at + groupBytes + plan.spec.copy(input, at + groupBytes);
}

/** Whatever is sent of this call from now on, for the first time or again, comes too late and has no effect. */
export function voidCall(call: Call): void {
  call.input.writeDoubleLE(Number.NEGATIVE_INFINITY, 8);
}

export function isVoid(call: Call): boolean {
  return call.input.readDoubleLE(8) === Number.NEGATIVE_INFINITY;
}

function addKeys(keys: string[], ids: string[], plan: Plan, first: Check, keyOf: KeyOf): void {
  const key = keyOf(first.rule, first.key);
  keys.push(key);
  if (plan.ledgers === 0) return;
  for (const limit of plan.limits) if (limit.ledger !== undefined) keys.push(ledgerKey(key, limit));
  if (hasId(plan, first)) ids.push(keyText(first.id));
}

export function ledgerKey(key: string, limit: Limit): string {
  return `${key}:${limit.id}`;
}

function flagsOf(plan: Plan, first: Check): number {
  return (first.shadow === true ? 1 : 0) + (hasId(plan, first) ? 2 : 0);
}

/** Only a ledger looks at an id. */
function hasId(plan: Plan, check: Check): check is Check & { readonly id: string } {
  return plan.ledgers > 0 && check.id !== undefined;
}

/** The script's number for what these groups ask together; main.lua lists them. */
function questionOf(groups: readonly Group[]): number {
  if (groups.length === 1) return (groups[0] as Group).plan.question;
  return groups.length <= 3 && groups.every(({ plan }) => plan.question === 1) ? groups.length + 3 : 0;
}

export function writeRequests(
  mode: Asking,
  requests: readonly Request[],
  keyOf: KeyOf,
  now: number,
  notAfter: number,
): Call {
  const keys: string[] = [];
  const ids: string[] = [];
  for (const { checks, groups } of requests)
    for (const { plan, at } of groups) addKeys(keys, ids, plan, firstOf(checks, at), keyOf);
  const input = writeRuns(mode, runsOf(requests, isAlike), repeatsOf(requests), now, notAfter);
  return { keys, input, ids };
}

/** Requests alike in shape and following each other, to be described once. */
export function runsOf<R extends Request>(requests: readonly R[], areAlike: (a: R, b: R) => boolean): Run[] {
  const runs: Run[] = [];
  let first = requests[0] as R;
  let count = 0;
  for (let i = 0; i < requests.length; i++) {
    const request = requests[i] as R;
    if (!areAlike(first, request)) {
      runs.push({ shape: first, count });
      first = request;
      count = 0;
    }
    count++;
  }
  runs.push({ shape: first, count });
  return runs;
}

/** NaN for `now` leaves the time to the server. */
export function writeRuns(
  mode: Asking,
  runs: readonly Run[],
  repeats: readonly Repeat[],
  now: number,
  notAfter: number,
): Buffer {
  let bytes = headBytes + repeats.length * repeatBytes;
  for (const { shape } of runs) {
    bytes += runBytes;
    for (const { plan } of shape.groups) bytes += groupBytes + plan.spec.length;
  }
  const input = Buffer.allocUnsafe(bytes);
  let at = writeHead(input, mode, repeats, now, notAfter);
  for (const { shape, count } of runs) {
    at = input.writeUInt16LE(count, at);
    at = input.writeUInt8(shape.groups.length, at);
    at = input.writeUInt8(questionOf(shape.groups), at);
    for (const group of shape.groups) {
      const first = firstOf(shape.checks, group.at);
      at = writePlan(input, at, group.plan, flagsOf(group.plan, first), costOf(first));
    }
  }
  return input;
}

/** A place in the call's keys, from 1, whose key stands there before. */
export interface Repeat {
  readonly place: number;
  readonly first: number;
}

const noRepeats: readonly Repeat[] = [];

/** Where a rule is asked about a key again. */
function repeatsOf(requests: readonly Request[]): readonly Repeat[] {
  if (requests.length === 1) return noRepeats;
  const repeats: Repeat[] = [];
  const places: FirstPlaces = new Map();
  let place = 1;
  for (const { checks, groups } of requests) {
    for (const { plan, at } of groups) {
      const { rule, key } = firstOf(checks, at);
      const first = firstPlace(places, rule, key, place);
      if (first < place) repeats.push({ place, first });
      place += 1 + plan.ledgers;
    }
  }
  return repeats;
}

/** By rule and key. */
export type FirstPlaces = Map<string, Map<string, number>>;

/** Where a rule was asked about a key first: here, if it was not before. */
export function firstPlace(places: FirstPlaces, rule: string, key: string, here: number): number {
  const ofRule = places.get(rule);
  const first = ofRule?.get(key);
  if (first !== undefined) return first;
  if (ofRule === undefined) places.set(rule, new Map([[key, here]]));
  else ofRule.set(key, here);
  return here;
}

export interface Run {
  readonly shape: Request;
  readonly count: number;
}

function isAlike(a: Request, b: Request): boolean {
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

export function writeRefund(charges: readonly Charge[], keyOf: KeyOf, now: number, notAfter: number): Call {
  const groups = groupsOf(charges);
  const keys: string[] = [];
  const ids: string[] = [];
  let bytes = headBytes + charges.length * 16;
  for (const { plan, at } of groups) {
    addKeys(keys, ids, plan, firstOf(charges, at), keyOf);
    bytes += groupBytes + plan.spec.length + 8;
  }
  const input = Buffer.allocUnsafe(bytes);
  let at = writeHead(input, Mode.refund, noRepeats, now, notAfter);
  for (const group of groups) {
    const first = firstOf(charges, group.at);
    at = writePlan(input, at, group.plan, flagsOf(group.plan, first), costOf(first));
    at = input.writeDoubleLE(first.at ?? Number.NaN, at);
    for (const i of group.at) {
      const charge = charges[i] as Charge;
      at = input.writeDoubleLE(costOf(charge), at);
      at = input.writeDoubleLE(charge.resetAfterMs ?? Number.POSITIVE_INFINITY, at);
    }
  }
  return { keys, input, ids };
}

export function writeHold(key: string, forMs: number, now: number, notAfter: number): Call {
  const input = Buffer.allocUnsafe(headBytes + 8 + groupBytes + noLimits.spec.length);
  const at = input.writeDoubleLE(forMs, writeHead(input, Mode.hold, noRepeats, now, notAfter));
  writePlan(input, at, noLimits, 0, 0);
  return { keys: [key], input, ids: [] };
}
