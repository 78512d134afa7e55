import type { Limit } from "../../limit.js";
import { fullest, Segment } from "./segment.js";

/** Whose records these are, and so what they weigh. */
export type Owner = Pick<Limit, "pressure">;

/** A record that could be dropped. */
export interface Candidate {
  readonly pressure: number;
  drop(): void;
}

/**
 * Constant-size states, found by a 64-bit hash. They lie in segments, chosen by the low bits of the hash's high half.
 * A full segment drops what has expired, or else splits: growing moves some hundred records at a time, and leaves no
 * garbage behind. Segments differ in capacity, so that they do not all split at once.
 */
export class Table {
  count = 0;
  /** Changes whenever records may have moved: what was found before is then stale. */
  version = 0;
  readonly owners: Owner[] = [];
  readonly cellsPerRecord: number;
  /** Two to the power of the greatest depth; a segment of lesser depth stands in it several times. */
  #directory: Segment[];

  constructor(cellsPerRecord: number) {
    this.cellsPerRecord = cellsPerRecord;
    this.#directory = [new Segment(cellsPerRecord, smallest, 0)];
  }

  get isOpen(): boolean {
    return this.owners.length < maxOwners;
  }

  /** The segment where records of this hash lie. */
  segmentOf(high: number): Segment {
    const directory = this.#directory;
    return directory[high & (directory.length - 1)] as Segment;
  }

  /** Adds a record, which must not be there yet, for `owners[owner]`. Answers where its cells begin in its segment's. */
  insert(low: number, high: number, owner: number, now: number): number {
    while (this.segmentOf(high).isFull) this.#relieve(high, now);
    this.count++;
    this.version++;
    return this.segmentOf(high).add(low, high, owner);
  }

  remove(low: number, high: number): void {
    const segment = this.segmentOf(high);
    const offset = segment.find(low, high);
    if (offset >= 0) this.#removeSlot(segment, segment.slotOf(offset));
  }

  /** The record of lowest pressure among a few neighbours, anywhere. There must be one. */
  weakest(now: number): Candidate {
    const segment = this.#anySegment();
    let slot = Math.floor(Math.random() * segment.capacity);
    let weakest = -1;
    let lowest = Number.POSITIVE_INFINITY;
    for (let seen = 0, looked = 0; seen < sampleSize && looked < segment.capacity; looked++) {
      if (!segment.isEmpty(slot)) {
        seen++;
        const pressure = this.#pressure(segment, slot, now);
        if (pressure < lowest) {
          lowest = pressure;
          weakest = slot;
        }
      }
      if (++slot === segment.capacity) slot = 0;
    }
    return { pressure: lowest, drop: () => this.#removeSlot(segment, weakest) };
  }

  #anySegment(): Segment {
    for (;;) {
      const segment = this.#directory[Math.floor(Math.random() * this.#directory.length)] as Segment;
      if (segment.count > 0) return segment;
    }
  }

  #pressure(segment: Segment, slot: number, now: number): number {
    const owner = this.owners[segment.ownerOf(slot)] as Owner;
    return owner.pressure(segment.cells, segment.offsetOf(slot), now);
  }

  #removeSlot(segment: Segment, slot: number): void {
    segment.remove(slot);
    this.count--;
    this.version++;
  }

  /** Makes room in a full segment. */
  #relieve(high: number, now: number): void {
    const segment = this.segmentOf(high);
    const before = segment.count;
    this.#dropExpired(segment, now);
    if (segment.count <= before * worthKeeping) return;
    if (segment.capacity < fullSize) this.#enlarge(segment, high);
    else this.#split(segment, high);
  }

  #dropExpired(segment: Segment, now: number): void {
    for (let slot = 0; slot < segment.capacity; slot++) {
      // What a removal pulls into this slot is looked at too.
      while (!segment.isEmpty(slot) && this.#pressure(segment, slot, now) === 0)
        this.#removeSlot(segment, slot);
    }
  }

  /** Only the first segment begins small. */
  #enlarge(segment: Segment, high: number): void {
    const larger = new Segment(this.cellsPerRecord, segment.capacity * 2, segment.depth);
    segment.moveTo(larger, 0);
    this.#enter(larger, high);
  }

  #split(segment: Segment, high: number): void {
    const bit = 1 << segment.depth;
    if (bit === this.#directory.length) this.#directory = this.#directory.concat(this.#directory);
    segment.depth++;
    const needed = Math.ceil(segment.countWith(bit) / fullest);
    const capacity = Math.max(needed, Math.floor(fullSize * 2 ** Math.random()));
    const sibling = new Segment(this.cellsPerRecord, capacity, segment.depth);
    segment.moveTo(sibling, bit);
    this.#enter(sibling, high | bit);
  }

  /** Puts a segment wherever hashes that agree with `high` in its depth look for it. */
  #enter(segment: Segment, high: number): void {
    const step = 1 << segment.depth;
    for (let i = high & (step - 1); i < this.#directory.length; i += step) this.#directory[i] = segment;
  }
}

const smallest = 8;
/** Records a segment has room for before it splits: this many to twice as many. */
const fullSize = 2048;
/** When dropping what has expired leaves more than this share, a segment grows all the same. */
const worthKeeping = 0.75;
const sampleSize = 4;
/** An owner's number takes 16 bits. */
const maxOwners = 2 ** 16;
