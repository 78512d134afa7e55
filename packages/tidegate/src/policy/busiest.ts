import { ConfigError, shown } from "../errors.js";
import type { BusyKey } from "../gate.js";
import { KeyHash } from "../key-hash.js";

export interface BusiestOptions {
  /** Keys kept by name. Default 1000. */
  capacity?: number;
}

/** Who sends most lately, in bounded memory. */
export interface Busiest {
  count(key: string, refused: boolean, now: number): void;
  /** The busiest first, as of the last count. */
  top(n: number): BusyKey[];
}

/** A request counts half as much after five minutes: lately is the last quarter of an hour or so. */
const halfLifeSeconds = 300;

/** Longer keys are kept by their beginning. */
const longestName = 128;

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
  const slots = new Map<string, number>();
  const names: string[] = [];
  const counts = new Float64Array(capacity);
  const errors = new Float64Array(capacity);
  const refusals = new Float64Array(capacity);
  const totals = new Float64Array(capacity);
  const totalRefusals = new Float64Array(capacity);
  const least = leastFirst(counts);
  const cells = new Float64Array(2 ** Math.ceil(Math.log2(capacity * 16)));
  const hash = new KeyHash();
  const faded = [counts, errors, refusals, cells];

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

  function cellOf(name: string): number {
    hash.of(name);
    return hash.low & (cells.length - 1);
  }

  /** The slot for a name not kept yet, or undefined as long as others are busier. */
  function admit(name: string): number | undefined {
    const cell = cellOf(name);
    const before = cells[cell] as number;
    let slot = names.length;
    if (slot === capacity) {
      slot = least.slot();
      if (before + weight < (counts[slot] as number)) {
        cells[cell] = before + weight;
        return undefined;
      }
      const displaced = names[slot] as string;
      slots.delete(displaced);
      cells[cellOf(displaced)] = counts[slot] as number;
    }
    slots.set(name, slot);
    names[slot] = name;
    counts[slot] = before;
    errors[slot] = before;
    refusals[slot] = 0;
    totals[slot] = 0;
    totalRefusals[slot] = 0;
    return slot;
  }

  return {
    count(key, refused, now) {
      const second = Math.floor(now / 1000);
      if (second !== lastSecond) moveTo(second);
      const name = key.length > longestName ? shortened(key) : key;
      const slot = slots.get(name) ?? admit(name);
      if (slot === undefined) return;
      counts[slot] = (counts[slot] as number) + weight;
      totals[slot] = (totals[slot] as number) + 1;
      if (refused) {
        refusals[slot] = (refusals[slot] as number) + weight;
        totalRefusals[slot] = (totalRefusals[slot] as number) + 1;
      }
      least.grown(slot);
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

/** A heap of slots by their counts, which only grow. */
function leastFirst(counts: Float64Array) {
  const heap = Int32Array.from(counts, (_, i) => i);
  const places = Int32Array.from(heap);

  return {
    slot: () => heap[0] as number,

    /** Moves a slot whose count has grown to its new place. */
    grown(slot: number): void {
      const count = counts[slot] as number;
      let place = places[slot] as number;
      for (;;) {
        let child = 2 * place + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && countAt(child + 1) < countAt(child)) child++;
        if (countAt(child) >= count) break;
        const risen = heap[child] as number;
        heap[place] = risen;
        places[risen] = place;
        place = child;
      }
      heap[place] = slot;
      places[slot] = place;
    },
  };

  function countAt(place: number): number {
    return counts[heap[place] as number] as number;
  }
}

/** A copy: a piece of a text would keep the whole of it in memory. */
function shortened(key: string): string {
  const beginning = Array.from({ length: longestName - 16 }, (_, i) => key.charCodeAt(i));
  return `${String.fromCharCode(...beginning)}… (${key.length})`;
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
