import { expect, test, vi } from "vitest";
import { memoryOffenders } from "./offenders.js";

const offender = (key: string, until: number) => ({ key, rule: "flood", until, edges: [] });

test("who is held is listed longest first, and gone when the hold ends", () => {
  let at = 0;
  const offenders = memoryOffenders({ now: () => at });
  offenders.add(offender("a", 1_000));
  offenders.add(offender("b", 2_000));
  expect(offenders.now().map(({ key }) => key)).toEqual(["b", "a"]);
  at = 1_000;
  expect(offenders.now().map(({ key }) => key)).toEqual(["b"]);
  expect(offenders.size).toBe(1);
});

test("a longer hold is told, a shorter one changes nothing", () => {
  const offenders = memoryOffenders({ now: () => 0 });
  const told = vi.fn();
  const stop = offenders.watch(told);
  offenders.add(offender("a", 1_000));
  offenders.add(offender("a", 500));
  offenders.add(offender("a", 3_000));
  stop();
  offenders.add(offender("a", 9_000));
  expect(told.mock.calls.map(([{ until }]) => until)).toEqual([1_000, 3_000]);
});

test("when full, whoever is released soonest goes first", () => {
  const offenders = memoryOffenders({ most: 2, now: () => 0 });
  for (const [key, until] of [
    ["a", 300],
    ["b", 100],
    ["c", 200],
  ] as const)
    offenders.add(offender(key, until));
  expect(offenders.now().map(({ key }) => key)).toEqual(["a", "c"]);
});
