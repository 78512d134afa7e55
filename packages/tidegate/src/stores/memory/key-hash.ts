/**
 * A seeded 64-bit hash of strings (the HalfSipHash round over UTF-16 pairs), as two 32-bit halves.
 * The seed is secret and new in every store, so nobody can choose keys that collide.
 */
export class KeyHash {
  /** The halves of the last `of`, unsigned. */
  low = 0;
  high = 0;
  readonly #seed: Uint32Array;

  constructor() {
    this.#seed = crypto.getRandomValues(new Uint32Array(2));
  }

  of(text: string): void {
    const k0 = this.#seed[0] as number;
    const k1 = this.#seed[1] as number;
    let v0 = k0 | 0;
    let v1 = k1 | 0;
    let v2 = k0 ^ 0x6c796765;
    let v3 = k1 ^ 0x74656462;
    const length = text.length;
    // The last word carries the length and the odd character; after it three rounds finish.
    const words = (length >> 1) + 4;
    for (let i = 0; i < words; i++) {
      let word = 0;
      const at = i * 2;
      if (at + 1 < length) word = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
      else if (i === length >> 1) word = (length << 16) | (length & 1 ? text.charCodeAt(at) : 0);
      else v2 ^= 0xff;
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
    this.low = (v1 ^ v3) >>> 0;
    this.high = (v0 ^ v2) >>> 0;
  }
}
