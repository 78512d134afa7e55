/**
 * A stretch of records with open addressing. A record is its hash (two words; a low half of 0 means empty) and its
 * cells, side by side, so that a lookup touches one or two lines of memory. Its owner is seldom asked for and lies apart.
 */
export class Segment {
  count = 0;
  /** How many of its records' bits the table chose it by. */
  depth: number;
  readonly capacity: number;
  readonly cells: Float64Array;
  readonly #words: Int32Array;
  readonly #owners: Uint16Array;
  /** Words per record. */
  readonly #stride: number;

  constructor(cellsPerRecord: number, capacity: number, depth: number) {
    this.depth = depth;
    this.capacity = capacity;
    this.#stride = 2 + 2 * cellsPerRecord;
    const doubles = (1 + cellsPerRecord) * capacity;
    const memory = new ArrayBuffer(doubles * 8 + capacity * 2);
    this.cells = new Float64Array(memory, 0, doubles);
    this.#words = new Int32Array(memory, 0, doubles * 2);
    this.#owners = new Uint16Array(memory, doubles * 8, capacity);
  }

  get isFull(): boolean {
    return this.count >= this.capacity * fullest;
  }

  /** Where the record's cells begin in `cells`, or -1. */
  find(low: number, high: number): number {
    const words = this.#words;
    const stride = this.#stride;
    let word = homeOf(low, this.capacity) * stride;
    for (;;) {
      const found = words[word];
      if (found === low && words[word + 1] === high) return (word >> 1) + 1;
      if (found === 0) return -1;
      word += stride;
      if (word === words.length) word = 0;
    }
  }

  /** Adds a record that is not there yet and answers where its cells begin; they are 0. There must be room. */
  add(low: number, high: number, owner: number): number {
    const words = this.#words;
    let slot = homeOf(low, this.capacity);
    while (words[slot * this.#stride] !== 0) if (++slot === this.capacity) slot = 0;
    const word = slot * this.#stride;
    words[word] = low;
    words[word + 1] = high;
    this.#owners[slot] = owner;
    this.count++;
    return (word >> 1) + 1;
  }

  isEmpty(slot: number): boolean {
    return this.#words[slot * this.#stride] === 0;
  }

  ownerOf(slot: number): number {
    return this.#owners[slot] as number;
  }

  /** Where a slot's cells begin. */
  offsetOf(slot: number): number {
    return ((slot * this.#stride) >> 1) + 1;
  }

  slotOf(offset: number): number {
    return ((offset - 1) << 1) / this.#stride;
  }

  /** How many records have this bit set in the high half of their hash. */
  countWith(bit: number): number {
    let count = 0;
    for (let slot = 0; slot < this.capacity; slot++) {
      if (!this.isEmpty(slot) && ((this.#words[slot * this.#stride + 1] as number) & bit) !== 0) count++;
    }
    return count;
  }

  /** Moves the records with this bit set in the high half of their hash; with 0, all. */
  moveTo(other: Segment, bit: number): void {
    const words = this.#words;
    const stride = this.#stride;
    for (let slot = 0; slot < this.capacity; slot++) {
      // What a removal pulls into this slot is looked at too.
      for (;;) {
        const word = slot * stride;
        const high = words[word + 1] as number;
        if (words[word] === 0 || (high & bit) !== bit) break;
        const to = (other.add(words[word] as number, high, this.ownerOf(slot)) - 1) << 1;
        for (let i = 2; i < stride; i++) other.#words[to + i] = words[word + i] as number;
        this.remove(slot);
      }
    }
  }

  /** Closes the gap, so that every record stays reachable from its home. */
  remove(slot: number): void {
    const words = this.#words;
    const owners = this.#owners;
    const stride = this.#stride;
    const { capacity } = this;
    let gap = slot;
    let next = slot;
    for (;;) {
      if (++next === capacity) next = 0;
      const low = words[next * stride] as number;
      if (low === 0) break;
      const home = homeOf(low, capacity);
      const reachesGap = gap <= next ? home <= gap || home > next : home <= gap && home > next;
      if (!reachesGap) continue;
      // Word by word: a hash read as a double could be a NaN, and come out changed.
      for (let i = 0; i < stride; i++) words[gap * stride + i] = words[next * stride + i] as number;
      owners[gap] = owners[next] as number;
      gap = next;
    }
    for (let i = 0; i < stride; i++) words[gap * stride + i] = 0;
    this.count--;
  }
}

/** The slot a hash points to: its upper 16 bits, spread over the capacity. */
function homeOf(low: number, capacity: number): number {
  return Math.imul(low >>> 16, capacity) >>> 16;
}

/** Above this share of records lookups get long. */
export const fullest = 0.85;
