import { KeyHash } from "../key-hash.js";

/**
 * Numbers instead of keys: 64 bits for a rule's place in the policy and the key under which it counts. Rules that follow one
 * another often count by the same key, which is then hashed once.
 */
export class KeyId {
  low = 0;
  high = 0;
  readonly #hash = new KeyHash();
  #last: string | undefined;

  of(rule: number, key: string): void {
    if (key !== this.#last) {
      this.#hash.of(key);
      this.#last = key;
    }
    const salt = Math.imul(rule + 1, 0x9e3779b1);
    this.low = this.#hash.low ^ salt;
    this.high = this.#hash.high ^ (salt >>> 15) ^ salt;
  }

  /** Stays as it is while the other goes on to the next key. */
  copy({ low, high }: KeyId): void {
    this.low = low;
    this.high = high;
  }

  /** The same as one number, for a map. */
  get number(): number {
    return (this.low >>> 0) * 2 ** 21 + (this.high >>> 11);
  }
}
