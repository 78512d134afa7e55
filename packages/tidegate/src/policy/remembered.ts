import { KeyHash } from "../key-hash.js";

/**
 * What was found out about the texts asked for lately. Texts are known by a secret 64-bit hash, as the memory store knows
 * its keys: a Map looks at the text of each entry in its way, and with thousands of them waits for memory each time.
 */
export class Remembered<T extends object | string> {
  readonly #hash: KeyHash;
  readonly #most: number;
  #young = new Generation<T>();
  #old = new Generation<T>();

  /** Two generations of at most so many each: what is not asked for while a whole one fills is forgotten. */
  constructor(mostInEither: number, hash: KeyHash = new KeyHash()) {
    this.#most = mostInEither;
    this.#hash = hash;
  }

  get(text: string): T | undefined {
    this.#hash.of(text);
    const { low, high } = this.#hash;
    const known = this.#young.find(low, high);
    if (known !== undefined) return known;
    const older = this.#old.find(low, high);
    if (older !== undefined) this.keepAs(low, high, older);
    return older;
  }

  /** Of the text hashed last. */
  keep(value: T): void {
    this.keepAs(this.#hash.low, this.#hash.high, value);
  }

  /** Of the text with this hash, in the place of what was kept of it. */
  keepAs(low: number, high: number, value: T): void {
    if (this.#young.count >= this.#most) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.put(low, high, value);
  }

  /** All that is kept; what is of one text may come twice, the older first. */
  *values(): Iterable<T> {
    yield* this.#old.values();
    yield* this.#young.values();
  }
}

/** Open addressing, at most half full. The words of a hash lie side by side. */
class Generation<T extends object | string> {
  count = 0;
  #words = new Int32Array(2 * smallest);
  #values: (T | undefined)[] = emptyValues(smallest);

  find(low: number, high: number): T | undefined {
    const words = this.#words;
    const values = this.#values;
    const mask = values.length - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const value = values[at];
      if (value === undefined || (words[2 * at] === low && words[2 * at + 1] === high)) return value;
    }
  }

  put(low: number, high: number, value: T): void {
    if (this.count * 2 >= this.#values.length) this.#grow();
    const words = this.#words;
    const values = this.#values;
    const mask = values.length - 1;
    let at = low & mask;
    while (values[at] !== undefined && (words[2 * at] !== low || words[2 * at + 1] !== high))
      at = (at + 1) & mask;
    if (values[at] === undefined) this.count++;
    words[2 * at] = low;
    words[2 * at + 1] = high;
    values[at] = value;
  }

  *values(): Iterable<T> {
    for (const value of this.#values) if (value !== undefined) yield value;
  }

  #grow(): void {
    const [words, values] = [this.#words, this.#values];
    this.#words = new Int32Array(2 * words.length);
    this.#values = emptyValues(2 * values.length);
    this.count = 0;
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      if (value !== undefined) this.put(words[2 * at] as number, words[2 * at + 1] as number, value);
    }
  }
}

function emptyValues<T>(size: number): (T | undefined)[] {
  return new Array<T | undefined>(size).fill(undefined);
}

const smallest = 64;
