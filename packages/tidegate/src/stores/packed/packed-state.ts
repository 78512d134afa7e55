import { type Limit, maxCells } from "../../limit.js";
import { tagOf } from "./tag.js";

/**
 * All that is known of one rule and key, as stores outside this process keep it. In bytes, little-endian: two doubles,
 * until when the key is held and when it has nothing more to say; then per limit of the plan, in its order, a tag (u32)
 * and its cells as doubles; then what is carried of limits no longer in force, each with its own end before its cells.
 * A tag has the number of cells in bits 28 to 30 and, in bit 31, whether it is carried.
 */
export interface PackedState {
  heldUntil: number;
  ends: number;
  /** Of limit i from i * maxCells on; zeros where it is fresh. */
  readonly cells: Float64Array;
  /** Entries of limits outside the plan, as they are written. */
  readonly carried: Uint8Array;
}

/** The last instant a Date can hold. A time beyond it was written by someone else. */
export const endOfTime = 8.64e15;

const headBytes = 16;
const carriedBit = 0x80000000;
const none = new Uint8Array(0);

export function freshState(plan: readonly Limit[]): PackedState {
  return { heldUntil: 0, ends: 0, cells: new Float64Array(plan.length * maxCells), carried: none };
}

/** When the state has nothing more to say. NaN when these bytes are not a packed state. */
export function endOf(bytes: Uint8Array): number {
  if (bytes.length < headBytes) return Number.NaN;
  const view = viewOf(bytes);
  const ends = view.getFloat64(8, true);
  if (!isTime(view.getFloat64(0, true)) || !isTime(ends)) return Number.NaN;
  for (let at = headBytes; at < bytes.length; ) {
    if (at + 4 > bytes.length) return Number.NaN;
    const tag = view.getUint32(at, true);
    const next = at + entryBytes(tag);
    if (cellsOf(tag) < 1 || cellsOf(tag) > maxCells || next > bytes.length) return Number.NaN;
    if (tag >= carriedBit && !isTime(view.getFloat64(at + 4, true))) return Number.NaN;
    for (at += 4; at < next; at += 8) if (Number.isNaN(view.getFloat64(at, true))) return Number.NaN;
  }
  return ends;
}

/** Undefined when these bytes are not a packed state. Entries outside the plan that have ended by `now` are left out. */
export function unpackState(bytes: Uint8Array, plan: readonly Limit[], now: number): PackedState | undefined {
  const ends = endOf(bytes);
  if (Number.isNaN(ends)) return undefined;
  const view = viewOf(bytes);
  const { cells } = freshState(plan);
  const carried: Uint8Array[] = [];
  let expected = 0;
  for (let at = headBytes, next = at; at < bytes.length; at = next) {
    const tag = view.getUint32(at, true);
    next = at + entryBytes(tag);
    const isCarried = tag >= carriedBit;
    const place = placeOf(isCarried ? tag - carriedBit : tag, plan, expected);
    if (place >= 0) {
      expected = place + 1;
      let to = place * maxCells;
      for (let from = next - cellsOf(tag) * 8; from < next; from += 8)
        cells[to++] = view.getFloat64(from, true);
    } else if (!isCarried) {
      if (ends > now) carried.push(carriedHead(tag, ends), bytes.subarray(at + 4, next));
    } else if (view.getFloat64(at + 4, true) > now) {
      carried.push(bytes.subarray(at, next));
    }
  }
  return {
    heldUntil: view.getFloat64(0, true),
    ends,
    cells,
    carried: carried.length === 0 ? none : Buffer.concat(carried),
  };
}

export function packState(state: PackedState, plan: readonly Limit[]): Buffer {
  let size = headBytes + state.carried.length;
  for (const limit of plan) size += 4 + limit.cells * 8;
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeDoubleLE(state.heldUntil, 0);
  let at = bytes.writeDoubleLE(state.ends, 8);
  for (let i = 0; i < plan.length; i++) {
    const limit = plan[i] as Limit;
    at = bytes.writeUInt32LE(tagOf(limit), at);
    for (let c = i * maxCells; c < i * maxCells + limit.cells; c++)
      at = bytes.writeDoubleLE(state.cells[c] as number, at);
  }
  bytes.set(state.carried, at);
  return bytes;
}

function carriedHead(tag: number, ends: number): Buffer {
  const head = Buffer.allocUnsafe(12);
  head.writeUInt32LE(tag + carriedBit, 0);
  head.writeDoubleLE(ends, 4);
  return head;
}

function cellsOf(tag: number): number {
  return (tag >>> 28) & 7;
}

function entryBytes(tag: number): number {
  return (tag >= carriedBit ? 12 : 4) + cellsOf(tag) * 8;
}

function isTime(ms: number): boolean {
  return Math.abs(ms) <= endOfTime;
}

/** Entries mostly lie in the plan's order, so that the first guess is right. */
function placeOf(tag: number, plan: readonly Limit[], guess: number): number {
  if (guess < plan.length && tagOf(plan[guess] as Limit) === tag) return guess;
  for (let i = 0; i < plan.length; i++) if (tagOf(plan[i] as Limit) === tag) return i;
  return -1;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
