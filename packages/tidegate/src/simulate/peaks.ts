import { Histogram } from "./histogram.js";

export interface PeakHistograms {
  /** But for those below. */
  readonly byClient: Histogram;
  /** Clients that were refused more than half of their requests by this very limit. */
  readonly refusedHere: Histogram;
  /** And those that were, but by others too. */
  readonly refusedElsewhere: Histogram;
  /** Of all clients. */
  readonly byWindow: Histogram;
}

/** Who refused a request: nobody, another limit, or the one in question. */
export type Refuser = "nobody" | "another" | "this";

/**
 * What each key asks for within windows of one length, whatever is refused: its most in any window, and each window's own.
 * Keys are kept by their hash, at most so many; when there are more, those whose window is over are written off as they are,
 * and count as another client should they come back. Clients that were refused most of what they asked for stand apart.
 */
export class Peaks {
  /** Whether clients were written off before the end. */
  isEstimated = false;
  readonly #windowMs: number;
  readonly #most: number;
  #size = 1024;
  #used = 0;
  #lows = new Int32Array(this.#size);
  #highs = new Int32Array(this.#size);
  /** Each key's window, its sum in it (0: no key here), and its most before. */
  #windows = new Float64Array(this.#size);
  #sums = new Float64Array(this.#size);
  #peaks = new Float64Array(this.#size);
  /** Each key's refused requests, less those that were not: above 0 it was refused more than half. */
  #refusals = new Int32Array(this.#size);
  /** The same of those that this limit refused. */
  #refusalsHere = new Int32Array(this.#size);
  readonly #byClient = new Histogram();
  readonly #refusedHere = new Histogram();
  readonly #refusedElsewhere = new Histogram();
  readonly #byWindow = new Histogram();

  constructor(windowMs: number, most: number = 2 ** 18) {
    this.#windowMs = Math.max(1, windowMs);
    this.#most = most;
  }

  count(low: number, high: number, at: number, cost: number, refuser: Refuser = "nobody"): void {
    const window = Math.floor(at / this.#windowMs);
    let slot = low & (this.#size - 1);
    while (this.#sums[slot] !== 0 && (this.#lows[slot] !== low || this.#highs[slot] !== high))
      slot = (slot + 1) & (this.#size - 1);
    const sum = this.#sums[slot] as number;
    if (sum !== 0 && this.#windows[slot] === window) {
      this.#sums[slot] = sum + cost;
      this.#weigh(slot, refuser);
      return;
    }
    if (sum !== 0) {
      this.#byWindow.add(sum);
      if (sum > (this.#peaks[slot] as number)) this.#peaks[slot] = sum;
    } else if (this.#used * 4 >= this.#size * 3) {
      this.#makeRoom(window);
      this.count(low, high, at, cost, refuser);
      return;
    } else {
      this.#used++;
      this.#lows[slot] = low;
      this.#highs[slot] = high;
      this.#peaks[slot] = 0;
      this.#refusals[slot] = 0;
      this.#refusalsHere[slot] = 0;
    }
    this.#windows[slot] = window;
    this.#sums[slot] = cost;
    this.#weigh(slot, refuser);
  }

  /** Clients by their most in one window, and windows by their sum, as of now. */
  histograms(): PeakHistograms {
    const byClient = new Histogram(this.#byClient);
    const refusedHere = new Histogram(this.#refusedHere);
    const refusedElsewhere = new Histogram(this.#refusedElsewhere);
    const byWindow = new Histogram(this.#byWindow);
    for (let slot = 0; slot < this.#size; slot++) {
      const sum = this.#sums[slot] as number;
      if (sum === 0) continue;
      const isHere = (this.#refusalsHere[slot] as number) > 0;
      const isElsewhere = (this.#refusals[slot] as number) > 0;
      (isHere ? refusedHere : isElsewhere ? refusedElsewhere : byClient).add(
        Math.max(sum, this.#peaks[slot] as number),
      );
      byWindow.add(sum);
    }
    return { byClient, refusedHere, refusedElsewhere, byWindow };
  }

  #weigh(slot: number, refuser: Refuser): void {
    (this.#refusals[slot] as number) += refuser === "nobody" ? -1 : 1;
    (this.#refusalsHere[slot] as number) += refuser === "this" ? 1 : -1;
  }

  /** Grows as long as it may; then lets go of windows that are over, or of all where none is. */
  #makeRoom(window: number): void {
    const [lows, highs, windows] = [this.#lows, this.#highs, this.#windows];
    const [sums, peaks, size] = [this.#sums, this.#peaks, this.#size];
    const [refusals, refusalsHere] = [this.#refusals, this.#refusalsHere];
    const grows = size < this.#most;
    const isOver = (slot: number): boolean => (windows[slot] as number) < window;
    const over = grows
      ? 0
      : sums.reduce((count, sum, slot) => count + (sum !== 0 && isOver(slot) ? 1 : 0), 0);
    if (grows) this.#size *= 2;
    this.#used = 0;
    this.#lows = new Int32Array(this.#size);
    this.#highs = new Int32Array(this.#size);
    this.#windows = new Float64Array(this.#size);
    this.#sums = new Float64Array(this.#size);
    this.#peaks = new Float64Array(this.#size);
    this.#refusals = new Int32Array(this.#size);
    this.#refusalsHere = new Int32Array(this.#size);
    for (let slot = 0; slot < size; slot++) {
      const sum = sums[slot] as number;
      if (sum === 0) continue;
      const peak = peaks[slot] as number;
      if (!grows && (isOver(slot) || over * 2 < this.#size)) {
        this.isEstimated = true;
        const isHere = (refusalsHere[slot] as number) > 0;
        const isElsewhere = (refusals[slot] as number) > 0;
        (isHere ? this.#refusedHere : isElsewhere ? this.#refusedElsewhere : this.#byClient).add(
          Math.max(sum, peak),
        );
        this.#byWindow.add(sum);
      } else {
        const at = this.#put(lows[slot] as number, highs[slot] as number);
        this.#windows[at] = windows[slot] as number;
        this.#sums[at] = sum;
        this.#peaks[at] = peak;
        this.#refusals[at] = refusals[slot] as number;
        this.#refusalsHere[at] = refusalsHere[slot] as number;
      }
    }
  }

  /** Answers its place. */
  #put(low: number, high: number): number {
    let slot = low & (this.#size - 1);
    while (this.#sums[slot] !== 0) slot = (slot + 1) & (this.#size - 1);
    this.#used++;
    this.#lows[slot] = low;
    this.#highs[slot] = high;
    return slot;
  }
}
