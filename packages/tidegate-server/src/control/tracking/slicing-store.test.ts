import fc from "fast-check";
import { type Check, earrrl, memoryStore, type Store, type Verdict } from "tidegate";
import { virtualClock } from "tidegate/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { slicingStore } from "./slicing-store.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

// Hardly anything fades: 100 and one more pass from rest, the next is refused.
const slow = earrrl({ rate: (100 * Math.LN2) / 3600, halfLife: "1h" });
// Nobody comes near it.
const steady = earrrl({ rate: 1_000_000, halfLife: "1h" });
const start = 1_700_000_000_000;

function sliced(terms: { most?: number; isAway?: () => boolean } = {}) {
  const clock = virtualClock(start);
  const counts = memoryStore({ clock });
  const asked: number[] = [];
  const later: Store = {
    async decide(checks) {
      if (terms.isAway?.()) throw new Error("away");
      asked.push(checks[0]?.cost ?? 1);
      return counts.decide(checks);
    },
    peek: (checks) => counts.peek(checks),
    refund: (charges) => counts.refund(charges),
    hold: (rule, key, forMs) => counts.hold(rule, key, forMs),
    forget: (checks) => counts.forget(checks),
  };
  const store = slicingStore(later, { share: 0.25, forMs: 200, most: terms.most ?? 100, now: clock });
  const hit = async (key: string, own = slow): Promise<Verdict> =>
    (await store.decide([{ rule: "r", key, limit: own }]))[0] as Verdict;
  const pass = (ms: number) => {
    clock.advance(ms);
    return vi.advanceTimersByTimeAsync(ms);
  };
  const known = (key: string) => {
    const check: Check = { rule: "r", key, limit: slow };
    return 101 - (counts.peek([check])[0] as Verdict).remaining;
  };
  return { store, hit, pass, known, asked, clock };
}

describe("a client far below its rate", () => {
  test("is asked about once in a while, and every hit counts once", async () => {
    const { hit, known, asked, pass } = sliced();
    expect((await hit("a")).source).toBe("store");
    for (let i = 0; i < 20; i++) expect(await hit("a")).toMatchObject({ allowed: true, source: "slice" });
    expect(asked).toEqual([1]);
    await pass(200);
    expect((await hit("a")).source).toBe("store");
    expect(asked).toEqual([1, 21]);
    expect(known("a")).toBe(22);
  });

  test("closing tells of everybody, some hundred at a time, and of nobody more once the store is away", async () => {
    let isAway = false;
    const { store, hit, known, asked } = sliced({ most: 1000, isAway: () => isAway });
    const keys = Array.from({ length: 600 }, (_, i) => `client ${i}`);
    for (const key of keys) for (let i = 0; i < 3; i++) await hit(key);
    const before = asked.length;
    const closed = store.close();
    await Promise.resolve();
    expect(asked.length - before).toBeLessThan(300);
    await closed;
    expect(keys.map(known)).toEqual(keys.map(() => 3));

    const other = sliced({ most: 1000, isAway: () => isAway });
    for (const key of keys) for (let i = 0; i < 3; i++) await other.hit(key);
    isAway = true;
    await other.store.close();
    expect(keys.map(other.known)).toEqual(keys.map(() => 1));
  });

  test("who does not come back is told of all the same", async () => {
    const { hit, known, asked, pass } = sliced();
    for (let i = 0; i < 5; i++) await hit("a");
    await hit("b");
    await pass(399);
    expect(asked).toEqual([1, 1]);
    await pass(10);
    expect(asked).toEqual([1, 1, 4]);
    expect(known("a")).toBe(5);
    await pass(10_000);
    expect(asked).toHaveLength(3);
  });

  test("is not asked about in one go with all who came when it did", async () => {
    const { hit, asked, pass } = sliced();
    const keys = Array.from({ length: 60 }, (_, i) => `client ${i}`);
    const asksWithin: number[] = [];
    for (let ms = 0; ms <= 400; ms += 10) {
      const before = asked.length;
      for (const key of keys) await hit(key, steady);
      asksWithin.push(asked.length - before);
      await pass(10);
    }
    const [first, ...later] = asksWithin;
    expect(first).toBe(60);
    expect(Math.max(...later)).toBeLessThan(15);
    expect(later.slice(0, 9)).toEqual(Array(9).fill(0));
  });

  test("closing tells of everyone", async () => {
    const { hit, known, store } = sliced();
    for (let i = 0; i < 5; i++) for (const key of ["a", "b", "c"]) await hit(key);
    await store.close();
    expect(["a", "b", "c"].map(known)).toEqual([5, 5, 5]);
  });
});

test("the hit that crosses is the same one, and is asked about, however hits are spread over time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(300), { minLength: 103, maxLength: 130 }), async (pauses) => {
      const { hit, pass } = sliced();
      const answers: Verdict[] = [];
      for (const ms of pauses) {
        answers.push(await hit("a"));
        await pass(ms);
      }
      expect(answers.findIndex(({ allowed }) => !allowed)).toBe(101);
      expect(answers.slice(101).every(({ allowed, source }) => !allowed && source === "store")).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test("more keys than are counted here are asked about each time", async () => {
  const { hit, asked } = sliced({ most: 2 });
  for (let i = 0; i < 3; i++) for (const key of ["a", "b", "c", "d"]) await hit(key);
  expect(asked).toHaveLength(4 + 2 * 2);
});

test("a store that goes away is asked about everyone anew when it is back", async () => {
  let isAway = false;
  const { hit, asked, pass } = sliced({ isAway: () => isAway });
  for (let i = 0; i < 3; i++) await hit("a");
  isAway = true;
  await pass(200);
  await expect(hit("a")).rejects.toThrow("away");
  isAway = false;
  expect((await hit("a")).source).toBe("store");
  expect(asked).toEqual([1, 1]);
});

test("one rule that has to be asked brings all rules' counts along", async () => {
  const { store, asked } = sliced();
  const both = (other: string): Check[] => [
    { rule: "r", key: "a", limit: slow },
    { rule: "other", key: other, limit: slow },
  ];
  await store.decide(both("x"));
  await store.decide(both("x"));
  const answers = await store.decide(both("y"));
  expect(answers.map(({ remaining }) => remaining)).toEqual([98, 100]);
  expect(asked).toEqual([1, 2]);
});

test("answers that come late grant nothing that was counted meanwhile", async () => {
  const clock = virtualClock(start);
  const counts = memoryStore({ clock });
  const answers: (() => void)[] = [];
  const slowly = {
    decide: (checks: readonly Check[]) => {
      const verdicts = counts.decide(checks);
      return new Promise<Verdict[]>((resolve) => answers.push(() => resolve(verdicts)));
    },
  } as unknown as Store;
  const store = slicingStore(slowly, { share: 0.25, forMs: 200, most: 100, now: clock });
  const hit = () => store.decide([{ rule: "r", key: "a", limit: slow }]);
  for (let i = 0; i < 10; i++) void hit();
  let unasked = 0;
  for (const answer of answers.splice(0)) {
    answer();
    await vi.advanceTimersByTimeAsync(0);
    for (let i = 0; i < 30 && answers.length === 0; i++) if (Array.isArray(hit())) unasked++;
  }
  expect(unasked).toBeLessThan(101 - 10);
});

test("who is forgotten or held here begins without a slice", async () => {
  const { hit, known, store, asked } = sliced();
  for (let i = 0; i < 5; i++) for (const key of ["a", "b"]) await hit(key);
  await store.forget([{ rule: "r", key: "a", limit: slow }]);
  await hit("a");
  expect(known("a")).toBe(1);
  await store.hold("r", "b", 60_000);
  expect((await hit("b")).allowed).toBe(false);
  expect(asked).toHaveLength(4);
});

describe("a hit of which only rule and key are told", () => {
  const about = (key: string) => ({ rule: "r", key });

  test("counts as any other, as long as nothing need be asked", async () => {
    const { store, hit, known, asked, pass } = sliced();
    expect(store.countHere([about("a")])).toBe(false);
    await hit("a");
    for (let i = 0; i < 5; i++) expect(store.countHere([about("a")])).toBe(true);
    for (let i = 0; i < 15; i++) await hit("a");
    expect(asked).toEqual([1]);
    await pass(200);
    expect(store.countHere([about("a")])).toBe(false);
    await hit("a");
    expect(asked).toEqual([1, 21]);
    expect(known("a")).toBe(22);
  });

  test("never crosses: a quarter of what is left, and the store is asked", async () => {
    const { store, hit } = sliced();
    await hit("a");
    let counted = 0;
    while (store.countHere([about("a")])) counted++;
    expect(counted).toBe(25);
  });

  test("of several that have to be counted together counts all or none", async () => {
    const { store, hit, known, pass } = sliced();
    await hit("a");
    expect(store.countHere([about("a"), about("b")])).toBe(false);
    await hit("b");
    expect(store.countHere([about("a"), about("b")])).toBe(true);
    await pass(500);
    expect(["a", "b"].map(known)).toEqual([2, 2]);
  });

  test("is not counted for who was forgotten, or while the store is away", async () => {
    let isAway = false;
    const { store, hit, pass } = sliced({ isAway: () => isAway });
    for (const key of ["a", "b"]) await hit(key);
    await store.forget([{ rule: "r", key: "a", limit: slow }]);
    expect(store.countHere([about("a")])).toBe(false);
    expect(store.countHere([about("b")])).toBe(true);
    isAway = true;
    await expect(hit("c")).rejects.toThrow("away");
    expect(store.countHere([about("b")])).toBe(false);
    await pass(500);
  });
});

test("after closing everyone is asked about", async () => {
  const { hit, known, store } = sliced();
  await store.close();
  for (let i = 0; i < 3; i++) expect((await hit("a")).source).toBe("store");
  expect(known("a")).toBe(3);
});
