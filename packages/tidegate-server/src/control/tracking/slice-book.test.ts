import { earrrl } from "tidegate";
import { expect, test } from "vitest";
import { emptySlice } from "./slice.js";
import { sliceBook } from "./slice-book.js";

const limit = earrrl({ rate: 1, halfLife: "1m" });

function bookOf(count: number) {
  const book = sliceBook<string>();
  const slices = Array.from({ length: count }, (_, i) =>
    emptySlice<string>([{ rule: `rule ${i % 2}`, key: `client ${i}`, limit }], i),
  );
  for (const slice of slices) book.add(slice);
  return { book, slices };
}

test("a slice is found by its rule and key together", () => {
  const { book, slices } = bookOf(2);
  expect(book.of({ rule: "rule 1", key: "client 1" })).toBe(slices[1]);
  expect(book.of({ rule: "rule 0", key: "client 1" })).toBeUndefined();
});

test("all are looked at in turn, so many at a time, and who is not needed is found no more", () => {
  const { book } = bookOf(200);
  let looked = 0;
  const isNeeded = ({ since }: { since: number }) => ++looked > 0 && since % 10 !== 0;
  const weeds = [...book.weed(64, isNeeded)];
  expect(looked).toBe(64);
  expect(book.of({ rule: "rule 0", key: "client 0" })).toBeUndefined();
  for (let go = 0; go < 3; go++) weeds.push(...book.weed(64, isNeeded));
  expect(weeds.map(({ since }) => since).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, i) => 10 * i),
  );
  expect(book.size()).toBe(180);
});

test("what is taken out is found no more", () => {
  const { book, slices } = bookOf(5);
  expect(book.take(2)).toEqual(slices.slice(0, 2));
  expect(book.of({ rule: "rule 0", key: "client 0" })).toBeUndefined();
  expect(book.size()).toBe(3);
  expect(book.take()).toHaveLength(3);
  expect(book.size()).toBe(0);
});
