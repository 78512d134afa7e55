/**
 * How often each hash was counted, in bounded memory: never too low, and exact unless both its cells are shared with busier
 * ones. A count-min sketch of two cells, of which only the lower one grows; both lie in one line of the processor's cache.
 */
export class KeyCounts {
  readonly #lines: number;
  readonly #cells: Uint32Array;

  /** `cells` is a power of two. */
  constructor(cells: number = 2 ** 21) {
    this.#lines = cells / perLine - 1;
    this.#cells = new Uint32Array(cells);
  }

  add(low: number, high: number): void {
    const line = (low & this.#lines) * perLine;
    const i = line + (high & 7);
    const j = line + 8 + ((high >>> 3) & 7);
    const a = this.#cells[i] as number;
    const b = this.#cells[j] as number;
    if (a <= b) this.#cells[i] = a + 1;
    if (b <= a) this.#cells[j] = b + 1;
  }

  of(low: number, high: number): number {
    const line = (low & this.#lines) * perLine;
    const a = this.#cells[line + (high & 7)] as number;
    const b = this.#cells[line + 8 + ((high >>> 3) & 7)] as number;
    return Math.min(a, b);
  }
}

const perLine = 16;
