import { ConfigError, shown } from "../errors.js";
import type { BusyKey } from "../gate.js";
import type { Client } from "./client.js";

export interface BusiestOptions {
  /** Clients kept by name. Default 1000. */
  capacity?: number;
}

/** A client's name and its hash, by which it is known here. */
export type Counted = Pick<Client, "ip" | "low" | "high">;

/** Who sends most lately, in bounded memory. */
export interface Busiest {
  count(client: Counted, refused: boolean, now: number): void;
  /** The busiest first, as of the last count. */
  top(n: number): BusyKey[];
}

/** A request counts half as much after five minutes: lately is the last quarter of an hour or so. */
const halfLifeSeconds = 300;

/**
 * Filtered Space-Saving over requests that fade. With N the sum of all requests, each as faded as it is:
 *
 * - `count - error <= true <= count`, for every key kept;
 * - `error <= N / capacity`, and every key with more than N / capacity requests is kept;
 * - `refused` is never too high.
 *
 * Keys not kept share the cells of a filter by their hash; one is kept as soon as its cell reaches the least count kept,
 * so a flood of fresh keys seldom displaces a name. Time fades counts by the second and never runs backwards.
 */
export function busiest({ capacity = 1000 }: BusiestOptions = {}): Busiest {
  validateCapacity(capacity);
  const names: string[] = [];
  const slots = slotIndex(capacity);
  const counts = new Float64Array(capacity);
  const errors = new Float64Array(capacity);
  const refusals = new Float64Array(capacity);
  const totals = new Float64Array(capacity);
  const totalRefusals = new Float64Array(capacity);
  const least = leastFirst(counts);
  const cells = new Float64Array(2 ** Math.ceil(Math.log2(capacity * 16)));
  const faded = [counts, errors, refusals, cells, least.known];

  /** What one request adds. Instead of fading all counts, later requests weigh more. */
  let weight = 1;
  let lastSecond = Number.NaN;

  function moveTo(second: number): void {
    if (second > lastSecond) weight *= 2 ** ((second - lastSecond) / halfLifeSeconds);
    lastSecond = second;
    if (weight < 2 ** 64) return;
    for (const numbers of faded)
      for (let i = 0; i < numbers.length; i++) numbers[i] = (numbers[i] as number) / weight;
    weight = 1;
  }

  /** The slot for a client not kept yet, or -1 as long as others are busier. */
  function admit({ ip, low, high }: Counted): number {
    const cell = low & (cells.length - 1);
    const before = cells[cell] as number;
    let slot = names.length;
    if (slot === capacity) {
      slot = least.slot();
      if (before + weight < (counts[slot] as number)) {
        cells[cell] = before + weight;
        return -1;
      }
      cells[slots.lowOf(slot) & (cells.length - 1)] = counts[slot] as number;
      slots.remove(slot);
    }
    slots.add(slot, low, high);
    names[slot] = ip;
    counts[slot] = before;
    errors[slot] = before;
    refusals[slot] = 0;
    totals[slot] = 0;
    totalRefusals[slot] = 0;
    return slot;
  }

  return {
    count(client, refused, now) {
      const second = Math.floor(now / 1000);
      if (second !== lastSecond) moveTo(second);
      let slot = slots.find(client.low, client.high);
      if (slot < 0) slot = admit(client);
      if (slot < 0) return;
      counts[slot] = (counts[slot] as number) + weight;
      totals[slot] = (totals[slot] as number) + 1;
      if (refused) {
        refusals[slot] = (refusals[slot] as number) + weight;
        totalRefusals[slot] = (totalRefusals[slot] as number) + 1;
      }
    },

    top(n) {
      return names
        .map((key, slot) => ({
          key,
          count: (counts[slot] as number) / weight,
          error: (errors[slot] as number) / weight,
          refused: (refusals[slot] as number) / weight,
          total: totals[slot] as number,
          totalRefused: totalRefusals[slot] as number,
        }))
        .sort((a, b) => b.count - a.count)
        .slice(0, Math.max(0, n));
    },
  };
}

/** Slots by the hash of who has them: open addressing, at most a quarter full. A Map would make a new table of itself every thousand newcomers. */
function slotIndex(capacity: number) {
  const places = new Int32Array(2 ** Math.ceil(Math.log2(capacity * 4)));
  const mask = places.length - 1;
  const lows = new Int32Array(capacity);
  const highs = new Int32Array(capacity);
  const slotAt = (place: number) => (places[place] as number) - 1;
  const homeOf = (slot: number) => (highs[slot] as number) & mask;

  return {
    find(low: number, high: number): number {
      for (let place = high & mask; ; place = (place + 1) & mask) {
        const slot = slotAt(place);
        if (slot < 0 || (lows[slot] === low && highs[slot] === high)) return slot;
      }
    },

    lowOf: (slot: number) => lows[slot] as number,

    add(slot: number, low: number, high: number): void {
      lows[slot] = low;
      highs[slot] = high;
      let place = high & mask;
      while (slotAt(place) >= 0) place = (place + 1) & mask;
      places[place] = slot + 1;
    },

    /** Closes the gap, so that every slot stays reachable from its home. */
    remove(slot: number): void {
      let gap = homeOf(slot);
      while (slotAt(gap) !== slot) gap = (gap + 1) & mask;
      for (let next = (gap + 1) & mask; slotAt(next) >= 0; next = (next + 1) & mask) {
        const isReachable = ((next - homeOf(slotAt(next))) & mask) < ((next - gap) & mask);
        if (isReachable) continue;
        places[gap] = places[next] as number;
        gap = next;
      }
      places[gap] = 0;
    },
  };
}

/**
 * A heap of slots by their counts, which only grow. What a slot has grown by is found out when it comes to stand first, so
 * that a count costs nothing here: whoever stands first with its true count has the least, since the others have more than is known.
 */
function leastFirst(counts: Float64Array) {
  const heap = Int32Array.from(counts, (_, i) => i);
  const known = new Float64Array(counts.length);

  return {
    /** Of each slot, its count as the heap knows it. */
    known,

    slot(): number {
      for (;;) {
        const slot = heap[0] as number;
        if (known[slot] === counts[slot]) return slot;
        known[slot] = counts[slot] as number;
        sink(slot);
      }
    },
  };

  /** Moves the slot that stands first to its place. */
  function sink(slot: number): void {
    const count = known[slot] as number;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && knownAt(child + 1) < knownAt(child)) child++;
      if (knownAt(child) >= count) break;
      heap[place] = heap[child] as number;
      place = child;
    }
    heap[place] = slot;
  }

  function knownAt(place: number): number {
    return known[heap[place] as number] as number;
  }
}

function validateCapacity(capacity: unknown): void {
  if (Number.isInteger(capacity) && (capacity as number) >= 1 && (capacity as number) <= 1_000_000) return;
  throw new ConfigError(
    "TG_BUSIEST",
    "busiest.capacity",
    `${shown(capacity)} can not be used here.`,
    "Give a whole number from 1 to 1,000,000.",
  );
}
