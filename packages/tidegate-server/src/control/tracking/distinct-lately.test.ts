import { expect, test } from "vitest";
import { distinctLately } from "./distinct-lately.js";

test("the same text counts once, and many are counted within a few per cent", () => {
  const few = distinctLately({ now: () => 0 });
  for (let i = 0; i < 1_000; i++) few.add(`203.0.113.${i % 100}`);
  expect(few.count()).toBeGreaterThanOrEqual(98);
  expect(few.count()).toBeLessThanOrEqual(101);
  for (const many of [10_000, 300_000, 1_000_000]) {
    const lately = distinctLately({ now: () => 0 });
    for (let i = 0; i < many; i++) lately.add(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(Math.abs(lately.count() / many - 1)).toBeLessThan(0.05);
  }
});

test("what came more than a minute ago is forgotten, whatever the clock does", () => {
  let at = 1_000_000;
  const lately = distinctLately({ now: () => at });
  lately.add("a");
  at += 25_000;
  lately.add("b");
  expect(lately.count()).toBe(2);
  at += 36_000;
  expect(lately.count()).toBe(1);
  at += 10_000_000;
  expect(lately.count()).toBe(0);
  lately.add("c");
  at -= 5_000_000;
  lately.add("d");
  expect(lately.count()).toBe(1);
  at += 19_000;
  lately.add("e");
  at += 200;
  expect(lately.count()).toBe(2);
});
