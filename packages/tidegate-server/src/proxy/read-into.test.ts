import { expect, test } from "vitest";
import { byItself, intoOneBuffer } from "./read-into.js";

/** What a socket with so much unread is given of a read. */
function given(text: string, readableLength: number): Buffer {
  const pushed: Buffer[] = [];
  const socket = { readableLength, push: (piece: Buffer) => pushed.push(piece) > 0 };
  intoOneBuffer.buffer.write(text, "latin1");
  intoOneBuffer.callback.call(socket, text.length);
  return pushed[0] as Buffer;
}

test("what was read stays as it is when the next is read", () => {
  const pieces = ["one", "two", "three", "x".repeat(10_000), "y".repeat(65_536)];
  for (const unread of [0, 1]) {
    const kept = pieces.map((text) => given(text, unread));
    expect(kept.map((piece) => piece.toString("latin1"))).toEqual(pieces);
  }
});

test("a piece that has to wait keeps nothing alive but itself", () => {
  expect(given("small", 1).buffer.byteLength).toBe(5);
  const quick = given("small", 0);
  expect(quick.buffer.byteLength).toBeGreaterThan(5);
  expect(byItself(quick).buffer.byteLength).toBe(5);
  expect(byItself(quick).toString()).toBe("small");
  const large = Buffer.alloc(5000);
  expect(byItself(large)).toBe(large);
});

test("a socket that has enough says so", () => {
  const full = { readableLength: 0, push: () => false };
  expect(intoOneBuffer.callback.call(full, 1)).toBe(false);
});
