import { Histogram } from "./histogram.js";

/**
 * What each key asks for within windows of one length, whatever is refused: its most in any window, and each window's own.
 * Keys are kept by their hash, at most so many; when there are more, those whose window is over are written off as they are,
 * and count as another client should they come back.
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
  readonly #byClient = new Histogram();
  readonly #byWindow = new Histogram();

  constructor(windowMs: number, most: number = 2 ** 18) {
    this.#windowMs = Math.max(1, windowMs);
    this.#most = most;
  }

  count(low: number, high: number, at: number, cost: number): void {
    const window = Math.floor(at / this.#windowMs);
    let slot = low & (this.#size - 1);
    while (this.#sums[slot] !== 0 && (this.#lows[slot] !== low || this.#highs[slot] !== high))
      slot = (slot + 1) & (this.#size - 1);
    const sum = this.#sums[slot] as number;
    if (sum !== 0 && this.#windows[slot] === window) {
      this.#sums[slot] = sum + cost;
      return;
    }
    if (sum !== 0) {
      this.#byWindow.add(sum);
      if (sum > (this.#peaks[slot] as number)) this.#peaks[slot] = sum;
    } else if (this.#used * 4 >= this.#size * 3) {
      this.#makeRoom(window);
      this.count(low, high, at, cost);
      return;
    } else {
      this.#used++;
      this.#lows[slot] = low;
      this.#highs[slot] = high;
      this.#peaks[slot] = 0;
    }
    this.#windows[slot] = window;
    this.#sums[slot] = cost;
  }

  /** Clients by their most in one window, and windows by their sum, as of now. */
  histograms(): { readonly byClient: Histogram; readonly byWindow: Histogram } {
    const byClient = new Histogram(this.#byClient);
    const byWindow = new Histogram(this.#byWindow);
    for (let slot = 0; slot < this.#size; slot++) {
      const sum = this.#sums[slot] as number;
      if (sum === 0) continue;
      byClient.add(Math.max(sum, this.#peaks[slot] as number));
      byWindow.add(sum);
    }
    return { byClient, byWindow };
  }

  /** Grows as long as it may; then lets go of windows that are over, or of all where none is. */
  #makeRoom(window: number): void {
    const [lows, highs, windows] = [this.#lows, this.#highs, this.#windows];
    const [sums, peaks, size] = [this.#sums, this.#peaks, this.#size];
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
    for (let slot = 0; slot < size; slot++) {
      const sum = sums[slot] as number;
      if (sum === 0) continue;
      const peak = peaks[slot] as number;
      if (!grows && (isOver(slot) || over * 2 < this.#size)) {
        this.isEstimated = true;
        this.#byClient.add(Math.max(sum, peak));
        this.#byWindow.add(sum);
      } else {
        this.#put(lows[slot] as number, highs[slot] as number, windows[slot] as number, sum, peak);
      }
    }
  }

  #put(low: number, high: number, window: number, sum: number, peak: number): void {
    let slot = low & (this.#size - 1);
    while (this.#sums[slot] !== 0) slot = (slot + 1) & (this.#size - 1);
    this.#used++;
    this.#lows[slot] = low;
    this.#highs[slot] = high;
    this.#windows[slot] = window;
    this.#sums[slot] = sum;
    this.#peaks[slot] = peak;
  }
}
