import type { BusySecond } from "./rehearsal.js";

/** The second with the most counts, of times that do not run backwards. */
export class WorstSecond {
  #second = Number.NaN;
  #count = 0;
  #worst = Number.NaN;
  #most = 0;

  count(at: number): void {
    const second = Math.floor(at / 1000);
    if (second === this.#second) this.#count++;
    else {
      this.#second = second;
      this.#count = 1;
    }
    if (this.#count <= this.#most) return;
    this.#most = this.#count;
    this.#worst = second;
  }

  /** The first of the worst; 0 requests at 0 where nothing was counted. */
  get busiest(): BusySecond {
    return this.#most === 0 ? { at: 0, requests: 0 } : { at: this.#worst * 1000, requests: this.#most };
  }
}
