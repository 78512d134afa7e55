/** Counts distinct hashes: exactly up to some thousands, then by linear counting, within 1 % up to thirty million. */
export class Distinct {
  #few: Set<number> | undefined = new Set();
  #bits: Int32Array | undefined;
  #set = 0;
  readonly #size: number;

  /** `bits` is a power of two; it counts about eight times as many. */
  constructor(bits: number = 2 ** 22) {
    this.#size = bits;
  }

  add(low: number, high: number): void {
    if (this.#bits !== undefined) this.#mark(this.#bits, low);
    else if (this.#few !== undefined) {
      this.#few.add((low >>> 0) * 2 ** 21 + (high >>> 11));
      if (this.#few.size > mostKnown) this.#spill(this.#few);
    }
  }

  get count(): number {
    if (this.#few !== undefined) return this.#few.size;
    const free = Math.max(1, this.#size - this.#set);
    return Math.round(this.#size * Math.log(this.#size / free));
  }

  get isExact(): boolean {
    return this.#few !== undefined;
  }

  #spill(few: Set<number>): void {
    this.#bits = new Int32Array(this.#size / 32);
    for (const hash of few) this.#mark(this.#bits, Math.floor(hash / 2 ** 21) | 0);
    this.#few = undefined;
  }

  #mark(bits: Int32Array, low: number): void {
    const at = low & (this.#size - 1);
    const word = bits[at >>> 5] as number;
    const bit = 1 << (at & 31);
    if ((word & bit) !== 0) return;
    bits[at >>> 5] = word | bit;
    this.#set++;
  }
}

const mostKnown = 4096;
