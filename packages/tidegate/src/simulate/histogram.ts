/** How often each amount was seen: amounts up to 64 exactly, larger ones in steps of 3 %. Sums are exact. */
export class Histogram {
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;

  constructor(from?: Histogram) {
    this.#counts = from ? from.#counts.slice() : new Float64Array(cells);
    this.#sums = from ? from.#sums.slice() : new Float64Array(cells);
  }

  add(amount: number): void {
    const cell = cellOf(amount);
    (this.#counts[cell] as number)++;
    (this.#sums[cell] as number) += amount;
  }

  /** Both together. */
  plus(other: Histogram): Histogram {
    const sum = new Histogram(this);
    for (let cell = 0; cell < cells; cell++) {
      (sum.#counts[cell] as number) += other.#counts[cell] as number;
      (sum.#sums[cell] as number) += other.#sums[cell] as number;
    }
    return sum;
  }

  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** The amount that this share of all do not exceed. */
  percentile(share: number): number {
    const wanted = share * this.count;
    let seen = 0;
    for (let cell = 0; cell < cells; cell++) {
      const count = this.#counts[cell] as number;
      seen += count;
      if (count > 0 && seen >= wanted) return (this.#sums[cell] as number) / count;
    }
    return 0;
  }

  /** How many exceed a limit, and by how much together. */
  above(limit: number): { readonly count: number; readonly excess: number } {
    let count = 0;
    let excess = 0;
    for (let cell = 0; cell < cells; cell++) {
      const here = this.#counts[cell] as number;
      const beyond = (this.#sums[cell] as number) - here * limit;
      if (here === 0 || beyond <= 0) continue;
      count += here;
      excess += beyond;
    }
    return { count, excess };
  }
}

const exactly = 64;
const perDoubling = 32;
const cells = exactly + perDoubling * 40;

function cellOf(amount: number): number {
  if (amount < exactly) return Math.max(0, Math.floor(amount));
  const doublings = Math.floor(Math.log2(amount));
  const within = Math.floor((amount / 2 ** doublings - 1) * perDoubling);
  return Math.min(cells - 1, exactly + (doublings - 6) * perDoubling + within);
}
