/**
 * A seeded 64-bit hash of strings (HalfSipHash-1-3), as two 32-bit halves. The seed is secret and new in every
 * one, so nobody can choose keys that collide.
 *
 * The round is written out wherever it is used: its four words must stay in registers.
 */
export class KeyHash {
  /** The halves of the last `of`, signed: a signed 32-bit integer is never boxed. */
  low = 0;
  high = 0;
  #isSeeded = false;
  #k0 = 0;
  #k1 = 0;

  /** With the first text: Workers give no random numbers while a module loads, which is when gates are made. */
  #seed(): void {
    const seed = crypto.getRandomValues(new Int32Array(2));
    this.#k0 = seed[0] as number;
    this.#k1 = seed[1] as number;
    this.#isSeeded = true;
  }

  /** Takes four characters a round, as long as all are below 256. */
  of(text: string): void {
    if (!this.#isSeeded) this.#seed();
    const { length } = text;
    const whole = length & ~3;
    let v0 = this.#k0 | 0;
    let v1 = this.#k1 | 0;
    let v2 = v0 ^ 0x6c796765;
    let v3 = v1 ^ 0x74656462;
    let widest = 0;
    let at = 0;
    for (; at < whole; at += 4) {
      const a = text.charCodeAt(at);
      const b = text.charCodeAt(at + 1);
      const c = text.charCodeAt(at + 2);
      const d = text.charCodeAt(at + 3);
      widest |= a | b | c | d;
      const word = a | (b << 8) | (c << 16) | (d << 24);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    // The last word: what is left, and the length.
    let last = length << 24;
    for (let shift = 0; at < length; at++, shift += 8) {
      const a = text.charCodeAt(at);
      widest |= a;
      last |= a << shift;
    }
    if (widest <= 0xff) this.#finish(v0, v1, v2, v3, last);
    else this.#ofWide(text);
  }

  /** Two characters a round, and a start of its own: no wide text reads like a narrow one. */
  #ofWide(text: string): void {
    const { length } = text;
    const whole = length & ~1;
    let v0 = this.#k0 | 0;
    let v1 = this.#k1 ^ 0xee;
    let v2 = v0 ^ 0x6c796765;
    let v3 = v1 ^ 0x74656462;
    for (let at = 0; at < whole; at += 2) {
      const word = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    const last = (length << 16) | (whole < length ? text.charCodeAt(whole) : 0);
    this.#finish(v0, v1, v2, v3, last);
  }

  /** A round with the last word, then three without. */
  #finish(v0: number, v1: number, v2: number, v3: number, last: number): void {
    let word = last;
    for (let round = 0; round < 4; round++) {
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
      if (round === 0) v2 ^= 0xff;
      word = 0;
    }
    this.low = v1 ^ v3;
    this.high = v0 ^ v2;
  }
}

/** The one by which gates and memory stores of this process know keys: what one has hashed the other need not. */
export const commonHash: KeyHash = new KeyHash();

/** A key's hash by `commonHash`. A class, so that those of another copy of this library, with a seed of its own, are told apart. */
export class HashedKey {
  readonly key: string;
  readonly low: number;
  readonly high: number;

  constructor(key: string) {
    this.key = key;
    commonHash.of(key);
    this.low = commonHash.low;
    this.high = commonHash.high;
  }
}
