/** Counts in several columns over time, in at most so many buckets: they begin with a second and double when there are too many. */
export class TimeSeries {
  everyMs = 1000;
  /** Where the first bucket begins, a multiple of `everyMs`; NaN before the first count. */
  #from = Number.NaN;
  #used = 0;
  readonly #points: number;
  readonly #columns: Float64Array[];

  constructor(columns: number, points: number) {
    this.#points = points;
    this.#columns = Array.from({ length: columns }, () => new Float64Array(points));
  }

  /** The bucket of a time, never before the first one's. Counts after the next `place` may need another. */
  place(at: number): number {
    if (!(at >= this.#from)) {
      if (Number.isNaN(this.#from)) this.#from = Math.floor(at / this.everyMs) * this.everyMs;
      else return 0;
    }
    let bucket = Math.floor((at - this.#from) / this.everyMs);
    while (bucket >= this.#points) {
      this.#double();
      bucket = Math.floor((at - this.#from) / this.everyMs);
    }
    if (bucket >= this.#used) this.#used = bucket + 1;
    return bucket;
  }

  count(column: number, bucket: number): void {
    (this.#columns[column] as Float64Array)[bucket]++;
  }

  get times(): number[] {
    return Array.from({ length: this.#used }, (_, i) => this.#from + i * this.everyMs);
  }

  column(column: number): number[] {
    return Array.from((this.#columns[column] as Float64Array).subarray(0, this.#used));
  }

  /** Two become one. Where the first is the second half of its new bucket, it stays alone. */
  #double(): void {
    const isOdd = (this.#from / this.everyMs) % 2 !== 0 ? 1 : 0;
    this.#from -= isOdd * this.everyMs;
    this.everyMs *= 2;
    const used = (this.#used + isOdd + 1) >> 1;
    for (const column of this.#columns) {
      const old = column.slice(0, this.#used);
      column.fill(0);
      for (let i = 0; i < old.length; i++) (column[(i + isOdd) >> 1] as number) += old[i] as number;
    }
    this.#used = used;
  }
}
