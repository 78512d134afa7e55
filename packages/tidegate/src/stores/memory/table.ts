import type { Limit } from "../../limit.js";

/**
 * Constant-size states in typed arrays, found by a 64-bit hash. A record is one stretch of memory: the hash, its
 * owner, the cells. Records lie in segments that grow one by one, so no growth ever moves more than a few thousand.
 */
export class Table {
  count = 0;
  /** Changes whenever records may have moved: an offset found before is then stale. */
  version = 0;
  /** Set by `find` and `insert`: where the offset they answer points into. */
  cells: Float64Array;
  readonly #stride: number;
  readonly #shift: number;
  readonly #segments: Segment[];
  readonly #owners: readonly { limit: Pick<Limit, "pressure"> }[];

  constructor(
    cellsPerRecord: number,
    expected: number,
    owners: readonly { limit: Pick<Limit, "pressure"> }[],
  ) {
    this.#stride = headDoubles + cellsPerRecord;
    const bits = Math.min(12, Math.max(2, Math.ceil(Math.log2(expected / recordsPerSegment))));
    this.#shift = 32 - bits;
    this.#segments = Array.from({ length: 1 << bits }, () => new Segment(this.#stride, smallest));
    this.#owners = owners;
    this.cells = (this.#segments[0] as Segment).doubles;
  }

  /** The offset of the record's first cell in `cells`, or -1. */
  find(low: number, high: number): number {
    const segment = this.#segments[high >>> this.#shift] as Segment;
    const { words, capacity } = segment;
    const stride = this.#stride;
    let slot = (low * (capacity * perWord)) | 0;
    for (;;) {
      const word = slot * stride * 2;
      if (words[word + 2] === 0) return -1;
      if (words[word] === low && words[word + 1] === high) {
        this.cells = segment.doubles;
        return slot * stride + headDoubles;
      }
      if (++slot === capacity) slot = 0;
    }
  }

  /** Adds a record with zeroed cells, which must not be there yet, for `owners[owner]`. */
  insert(low: number, high: number, owner: number, now: number): number {
    const at = high >>> this.#shift;
    let segment = this.#segments[at] as Segment;
    if (segment.count + 1 > segment.capacity * fullest) segment = this.#rebuild(at, now);
    const slot = segment.free(low, this.#stride);
    const word = slot * this.#stride * 2;
    segment.words[word] = low;
    segment.words[word + 1] = high;
    segment.words[word + 2] = owner + 1;
    const offset = slot * this.#stride + headDoubles;
    segment.doubles.fill(0, offset, offset + this.#stride - headDoubles);
    segment.count++;
    this.count++;
    this.version++;
    this.cells = segment.doubles;
    return offset;
  }

  remove(low: number, high: number): boolean {
    const offset = this.find(low, high);
    if (offset < 0) return false;
    this.#removeSlot(this.#segments[high >>> this.#shift] as Segment, (offset - headDoubles) / this.#stride);
    return true;
  }

  /** Drops the record of lowest pressure among a sample. Answers whether it found one to drop. */
  evict(now: number): boolean {
    const segment = this.#anySegment();
    if (segment === undefined) return false;
    let victim = -1;
    let lowest = Number.POSITIVE_INFINITY;
    let slot = (Math.random() * segment.capacity) | 0;
    for (let seen = 0, tries = 0; seen < sampleSize && tries < segment.capacity; tries++) {
      const pressure = this.#pressure(segment, slot, now);
      if (pressure >= 0) {
        seen++;
        if (pressure < lowest) {
          lowest = pressure;
          victim = slot;
        }
        if (pressure === 0) break;
      }
      if (++slot === segment.capacity) slot = 0;
    }
    if (victim < 0) return false;
    this.#removeSlot(segment, victim);
    return true;
  }

  /** A segment with records in it, each about as likely as its share. */
  #anySegment(): Segment | undefined {
    if (this.count === 0) return undefined;
    for (;;) {
      const segment = this.#segments[(Math.random() * this.#segments.length) | 0] as Segment;
      if (segment.count > 0) return segment;
    }
  }

  /** -1 for an empty slot. */
  #pressure(segment: Segment, slot: number, now: number): number {
    const owner = segment.words[slot * this.#stride * 2 + 2] as number;
    if (owner === 0) return -1;
    return (this.#owners[owner - 1] as { limit: Pick<Limit, "pressure"> }).limit.pressure(
      segment.doubles,
      slot * this.#stride + headDoubles,
      now,
    );
  }

  /** Leaves behind what no longer says anything, and makes room for as much again as is due. */
  #rebuild(at: number, now: number): Segment {
    const old = this.#segments[at] as Segment;
    const stride = this.#stride;
    let live = 0;
    for (let slot = 0; slot < old.capacity; slot++) if (this.#pressure(old, slot, now) > 0) live++;
    const capacity = Math.max(smallest, Math.ceil(((live + 1) / fullest) * growth));
    const fresh = new Segment(stride, capacity);
    for (let slot = 0; slot < old.capacity; slot++) {
      if (!(this.#pressure(old, slot, now) > 0)) continue;
      const from = slot * stride;
      const target = fresh.free(old.words[from * 2] as number, stride);
      fresh.doubles.set(old.doubles.subarray(from, from + stride), target * stride);
    }
    fresh.count = live;
    this.count += live - old.count;
    this.#segments[at] = fresh;
    return fresh;
  }

  /** Closes the gap, so that every record stays reachable from where its hash points. */
  #removeSlot(segment: Segment, slot: number): void {
    const { words, doubles, capacity } = segment;
    const stride = this.#stride;
    let gap = slot;
    let next = slot;
    for (;;) {
      if (++next === capacity) next = 0;
      const word = next * stride * 2;
      if (words[word + 2] === 0) break;
      const home = ((words[word] as number) * (capacity * perWord)) | 0;
      const movable = gap <= next ? home <= gap || home > next : home <= gap && home > next;
      if (movable) {
        doubles.copyWithin(gap * stride, next * stride, (next + 1) * stride);
        gap = next;
      }
    }
    words[gap * stride * 2 + 2] = 0;
    segment.count--;
    this.count--;
    this.version++;
  }
}

class Segment {
  count = 0;
  readonly capacity: number;
  readonly doubles: Float64Array;
  readonly words: Uint32Array;

  constructor(stride: number, capacity: number) {
    this.capacity = capacity;
    const memory = new ArrayBuffer(capacity * stride * 8);
    this.doubles = new Float64Array(memory);
    this.words = new Uint32Array(memory);
  }

  /** The empty slot where a record of this hash belongs. */
  free(low: number, stride: number): number {
    let slot = (low * (this.capacity * perWord)) | 0;
    while (this.words[slot * stride * 2 + 2] !== 0) if (++slot === this.capacity) slot = 0;
    return slot;
  }
}

/** A record's head: hash (two words), owner + 1 (0 = empty), one word spare. */
const headDoubles = 2;
const perWord = 2 ** -32;
const recordsPerSegment = 4096;
const smallest = 8;
const fullest = 0.85;
const growth = 1.3;
const sampleSize = 8;
