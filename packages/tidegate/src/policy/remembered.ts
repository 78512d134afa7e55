import { KeyHash } from "../key-hash.js";

/**
 * What was found out about the texts asked for lately. Texts are known by a secret 64-bit hash, as the memory store knows
 * its keys: a Map looks at the text of each entry in its way, and with thousands of them waits for memory each time.
 */
export class Remembered<T extends object | string> {
  readonly #hash = new KeyHash();
  readonly #most: number;
  #young = new Generation<T>();
  #old = new Generation<T>();

  /** Two generations of at most so many each: what is not asked for while a whole one fills is forgotten. */
  constructor(mostInEither: number) {
    this.#most = mostInEither;
  }

  get(text: string): T | undefined {
    this.#hash.of(text);
    const { low, high } = this.#hash;
    const known = this.#young.find(low, high);
    if (known !== undefined) return known;
    const older = this.#old.find(low, high);
    if (older !== undefined) this.keep(older);
    return older;
  }

  /** Of the text asked for last. */
  keep(value: T): void {
    if (this.#young.count >= this.#most) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.add(this.#hash.low, this.#hash.high, value);
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

  add(low: number, high: number, value: T): void {
    if (this.count * 2 >= this.#values.length) this.#grow();
    this.#put(low, high, value);
    this.count++;
  }

  #put(low: number, high: number, value: T): void {
    const mask = this.#values.length - 1;
    let at = low & mask;
    while (this.#values[at] !== undefined) at = (at + 1) & mask;
    this.#words[2 * at] = low;
    this.#words[2 * at + 1] = high;
    this.#values[at] = value;
  }

  #grow(): void {
    const [words, values] = [this.#words, this.#values];
    this.#words = new Int32Array(2 * words.length);
    this.#values = emptyValues(2 * values.length);
    for (let at = 0; at < values.length; at++) {
      const value = values[at];
      if (value !== undefined) this.#put(words[2 * at] as number, words[2 * at + 1] as number, value);
    }
  }
}

function emptyValues<T>(size: number): (T | undefined)[] {
  return new Array<T | undefined>(size).fill(undefined);
}

const smallest = 64;
