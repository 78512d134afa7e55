import { type Charge, costOf } from "../../check.js";
import { CallKeys, type KeyOf, type Repeat } from "./call-keys.js";
import { firstOf, flagsOf, type Group, groupsOf, noLimits, type Plan } from "./plan.js";
import type { Request } from "./requests.js";

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
  const call = new CallKeys(keyOf, requests.length === 1);
  for (let i = 0; i < requests.length; i++) (requests[i] as Request).addKeys(call);
  const { keys, ids, repeats } = call;
  return { keys, input: writeRuns(mode, runsOf(requests), repeats, now, notAfter), ids };
}

/** Requests alike in shape and following each other, to be described once. */
interface Run {
  readonly shape: Request;
  readonly count: number;
}

function runsOf(requests: readonly Request[]): Run[] {
  const runs: Run[] = [];
  let shape = requests[0] as Request;
  let from = 0;
  for (let i = 1; i < requests.length; i++) {
    const request = requests[i] as Request;
    if (shape.isLike(request)) continue;
    runs.push({ shape, count: i - from });
    shape = request;
    from = i;
  }
  runs.push({ shape, count: requests.length - from });
  return runs;
}

/** NaN for `now` leaves the time to the server. */
function writeRuns(
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

export function writeRefund(charges: readonly Charge[], keyOf: KeyOf, now: number, notAfter: number): Call {
  const groups = groupsOf(charges);
  const call = new CallKeys(keyOf, true);
  let bytes = headBytes + charges.length * 16;
  for (const { plan, at } of groups) {
    call.addGroup(plan, firstOf(charges, at));
    bytes += groupBytes + plan.spec.length + 8;
  }
  const input = Buffer.allocUnsafe(bytes);
  let at = writeHead(input, Mode.refund, [], now, notAfter);
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
  return { keys: call.keys, input, ids: call.ids };
}

export function writeHold(key: string, forMs: number, now: number, notAfter: number): Call {
  const input = Buffer.allocUnsafe(headBytes + 8 + groupBytes + noLimits.spec.length);
  const at = input.writeDoubleLE(forMs, writeHead(input, Mode.hold, [], now, notAfter));
  writePlan(input, at, noLimits, 0, 0);
  return { keys: [key], input, ids: [] };
}
