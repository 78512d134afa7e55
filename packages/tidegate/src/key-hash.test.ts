import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyHash } from "./key-hash.js";

function hashWith(hash: KeyHash): (text: string) => bigint {
  return (text) => {
    hash.of(text);
    return (BigInt(hash.high >>> 0) << 32n) | BigInt(hash.low >>> 0);
  };
}

describe("KeyHash", () => {
  it("tells a million similar keys apart", () => {
    const hash = new KeyHash();
    const seen = new Set<bigint>();
    const of = hashWith(hash);
    for (let i = 0; i < 1_000_000; i++) seen.add(of(`user:${i}`));
    expect(seen.size).toBe(1_000_000);
  });

  it("tells apart keys that differ in their last character, or only in length", () => {
    const of = hashWith(new KeyHash());
    const keys = Array.from({ length: 40 }, (_, length) =>
      ["a", "b", "\0", "é", "波"].map((last) => "a".repeat(length) + last),
    ).flat();
    const zeros = Array.from({ length: 600 }, (_, length) => "\0".repeat(length));
    const distinct = new Set([...keys, ...zeros]);
    expect(new Set([...distinct].map(of)).size).toBe(distinct.size);
  });

  it("tells a wide character from the narrow ones its bytes would be", () => {
    const of = hashWith(new KeyHash());
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 300 }),
        (codes) => {
          const wide = String.fromCharCode(...codes);
          const bytes = String.fromCharCode(...codes.flatMap((code) => [code & 0xff, code >>> 8]));
          const cut = String.fromCharCode(...codes.map((code) => code & 0xff));
          expect(of(bytes)).not.toBe(of(wide));
          if (cut !== wide) expect(of(cut)).not.toBe(of(wide));
        },
      ),
    );
  });

  it("answers the same for the same text, however it was put together", () => {
    const of = hashWith(new KeyHash());
    const whole = "client:2001:db8::1";
    const rope = ["client", ":", "2001:db8", "::1"].reduce((left, right) => left + right, "");
    expect(of(rope)).toBe(of(whole));
    expect(of(`x${whole}y`.slice(1, -1))).toBe(of(whole));
  });

  it("has a seed of its own in every store: what collides in one does not in another", () => {
    const [one, other] = [hashWith(new KeyHash()), hashWith(new KeyHash())];
    const keys = Array.from({ length: 1000 }, (_, i) => `k${i}`);
    expect(keys.filter((key) => one(key) === other(key))).toEqual([]);
    // Not a constant added on top either.
    expect(new Set(keys.map((key) => one(key) ^ other(key))).size).toBe(1000);
  });

  it("spreads similar keys evenly over both halves", () => {
    const hash = new KeyHash();
    const slots = { low: new Uint32Array(256), high: new Uint32Array(256) };
    for (let i = 0; i < 256_000; i++) {
      hash.of(`10.0.${i >> 8}.${i & 255}`);
      (slots.low as Uint32Array)[hash.low >>> 24]++;
      (slots.high as Uint32Array)[hash.high & 255]++;
    }
    for (const counts of [slots.low, slots.high]) {
      expect(Math.min(...counts)).toBeGreaterThan(800);
      expect(Math.max(...counts)).toBeLessThan(1200);
    }
  });
});
