import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha1Hex, sha256Hex } from "./digest.js";

const digests = [
  ["sha256", sha256Hex],
  ["sha1", sha1Hex],
] as const;

describe.each(digests)("%s", (name, digest) => {
  const expected = (text: string) => createHash(name).update(new TextEncoder().encode(text)).digest("hex");

  it("agrees with the platform's at every length around a block", () => {
    for (let length = 0; length <= 260; length++) {
      expect(digest("x".repeat(length))).toBe(expected("x".repeat(length)));
    }
  });

  it("agrees with the platform's on any text, lone surrogates included", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 400 }), (units) => {
        const text = String.fromCharCode(...units);
        expect(digest(text)).toBe(expected(text));
      }),
      { numRuns: 500 },
    );
  });

  it.each(["é", "波", "🌊", "\ud800", "\udc00x", "a\0b", "__proto__"])("reads %j as UTF-8", (text) => {
    expect(digest(text)).toBe(expected(text));
  });

  it("reads latin1 as one byte for each character, of any text of bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xff }), { maxLength: 400 }), (bytes) => {
        const expected = createHash(name).update(Buffer.from(bytes)).digest("hex");
        expect(digest(String.fromCharCode(...bytes), "latin1")).toBe(expected);
      }),
      { numRuns: 500 },
    );
    const long = "x\xe9".repeat(16_384);
    expect(digest(long, "latin1")).toBe(createHash(name).update(long, "latin1").digest("hex"));
  });

  it("does not let a long text or a call in between spoil a short one", () => {
    const long = "é🌊x".repeat(16_384);
    expect(digest("short")).toBe(expected("short"));
    expect(digest(long)).toBe(expected(long));
    for (const [, other] of digests) other("in between");
    expect(digest("short")).toBe(expected("short"));
  });
});
