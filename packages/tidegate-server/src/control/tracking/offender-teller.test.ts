import { expect, test } from "vitest";
import type { Log } from "../../log.js";
import type { Offender, Offenders } from "../../offenders.js";
import { offenderTeller } from "./offender-teller.js";

const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

function offender(key: string, until = 100_000): Offender {
  return { key, rule: "r", crossedAt: 0, until, score: 1, leaked: 0, edges: [], about: {} };
}

function teller(terms: { most?: number; mostUnderWay?: number } = {}) {
  const told: Offender[] = [];
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const offenders = {
    async add(each: Offender) {
      told.push(each);
      await released;
      return true;
    },
  } as Offenders;
  return { told, release, ...offenderTeller({ offenders, log, now: () => 10_000, ...terms }) };
}

test("no more clients are known than may be, and one forgotten is found anew", async () => {
  const { tell, seenAgain, release, close } = teller({ most: 3 });
  for (const key of ["a", "b", "c", "d"]) tell(offender(key));
  const again = { rule: "r", until: 100_000, score: 1, leaked: 1 };
  expect(["a", "b", "c", "d"].map((key) => seenAgain({ key, ...again }))).toEqual([false, true, true, true]);
  release();
  await close();
});

test("no more calls are under way than may be; the others are told of later, at the end at the latest", async () => {
  const { tell, told, release, close } = teller({ mostUnderWay: 2 });
  for (const key of ["a", "b", "c"]) tell(offender(key));
  expect(told.map(({ key }) => key)).toEqual(["a", "b"]);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  await close();
  expect(told.map(({ key }) => key)).toEqual(["a", "b", "c"]);
});

test("one whose hold has ended is found anew", async () => {
  const { tell, seenAgain, release, close } = teller();
  tell(offender("a", 9_000));
  expect(seenAgain({ rule: "r", key: "a", until: 100_000, score: 1, leaked: 1 })).toBe(false);
  release();
  await close();
});

test("of two rules that hold one client each is told", async () => {
  const { tell, told, seenAgain, release, close } = teller();
  tell(offender("a"));
  expect(seenAgain({ rule: "other", key: "a", until: 100_000, score: 1, leaked: 1 })).toBe(false);
  tell({ ...offender("a"), rule: "other" });
  release();
  await close();
  expect(told.map(({ rule }) => rule)).toEqual(["r", "other"]);
});
