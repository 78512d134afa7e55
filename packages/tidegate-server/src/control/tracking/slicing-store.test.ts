import fc from "fast-check";
import { type Check, earrrl, memoryStore, type Store, type Verdict } from "tidegate";
import { virtualClock } from "tidegate/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Counted, Slice } from "./slice.js";
import { type SlicingOptions, type SlicingStore, slicingStore } from "./slicing-store.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Hardly anything fades: so many and one more pass from rest, the next is refused. */
const upTo = (count: number) => earrrl({ rate: (count * Math.LN2) / 3600, halfLife: "1h" });
const slow = upTo(100);
// Nobody comes near it.
const steady = earrrl({ rate: 1_000_000, halfLife: "1h" });
const start = 1_700_000_000_000;

interface Terms extends Partial<SlicingOptions<string>> {
  /** What a call meets on its way to the store. */
  readonly meets?: (checks: readonly Check[]) => unknown;
}

function sliced({ meets, ...own }: Terms = {}) {
  const clock = virtualClock(start);
  const counts = memoryStore({ clock });
  const asked: number[] = [];
  const later: Store = {
    async decide(checks) {
      await meets?.(checks);
      asked.push(checks[0]?.cost ?? 1);
      return counts.decide(checks);
    },
    peek: (checks) => counts.peek(checks),
    refund: (charges) => counts.refund(charges),
    hold: (rule, key, forMs) => counts.hold(rule, key, forMs),
    forget: (checks) => counts.forget(checks),
  };
  const usual = { share: 0.25, everyMs: 200, restMs: 1_000, idleMs: 5_000, most: 100 };
  const store = slicingStore<string>(later, { ...usual, now: clock, ...own });
  const hit = async (key: string, own = slow): Promise<Verdict> =>
    (await store.decide([{ rule: "r", key, limit: own }]))[0] as Verdict;
  /** In small steps: whoever is woken reads the clock. */
  const pass = async (ms: number) => {
    for (let rest = ms; rest > 0; rest -= 10) {
      clock.advance(Math.min(10, rest));
      await vi.advanceTimersByTimeAsync(Math.min(10, rest));
    }
  };
  const known = (key: string) => {
    const check: Check = { rule: "r", key, limit: slow };
    return 101 - (counts.peek([check])[0] as Verdict).remaining;
  };
  return { store, counts, hit, pass, known, asked, clock };
}

function throwAway(): never {
  throw new Error("away");
}

const never = () => new Promise<never>(() => {});

/** Of all these, or of none. */
function slicesOf<About>(store: SlicingStore<About>, ...counted: Counted[]): Slice<About>[] | undefined {
  const slices = counted.map(store.sliceOf);
  return slices.every((slice) => slice !== undefined) ? slices : undefined;
}

describe("a client far below its rate", () => {
  test("is never asked about while it goes on, and the store hears of every hit once, in sums", async () => {
    const { hit, known, asked, pass } = sliced();
    expect((await hit("a")).source).toBe("store");
    for (let i = 0; i < 10; i++) expect(await hit("a")).toMatchObject({ allowed: true, source: "slice" });
    expect(asked).toEqual([1]);
    await pass(200);
    expect(asked).toEqual([1, 10]);
    for (let i = 0; i < 10; i++) expect((await hit("a")).source).toBe("slice");
    await pass(200);
    expect(asked).toEqual([1, 10, 10]);
    expect(known("a")).toBe(21);
  });

  test("is asked about where it comes back after a while, soon where many others came", async () => {
    const { hit, known, asked, pass } = sliced({ most: 40 });
    await hit("a");
    await pass(4_000);
    expect((await hit("a")).source).toBe("slice");
    await pass(10_500);
    expect((await hit("a")).source).toBe("store");
    expect(asked).toEqual([1, 1, 1]);
    expect(known("a")).toBe(3);
    for (let i = 0; i < 20; i++) await hit(`client ${i}`);
    await pass(200);
    await hit("client 0");
    await pass(2_900);
    await hit("client 0");
    await pass(1_000);
    expect((await hit("client 7")).source).toBe("store");
  });

  test("is asked about where the store could not be told for long", async () => {
    let asks = 0;
    const { store, hit, pass } = sliced({ meets: () => ++asks > 1 && never() });
    await hit("a", steady);
    const slices = slicesOf(store, { rule: "r", key: "a" }) ?? [];
    for (let ms = 0; ms < 1_600; ms += 20) {
      expect(store.countHere(slices)).toBe(true);
      await pass(20);
    }
    // Told of after a second, it has waited for 600 ms since.
    expect(store.countHere(slices)).toBe(false);
    expect(asks).toBe(2);
  });

  test("closing tells of everybody, some hundred at a time, and of no more once the store is away", async () => {
    const { store, hit, known, asked } = sliced({ most: 1000 });
    const keys = Array.from({ length: 600 }, (_, i) => `client ${i}`);
    for (const key of keys) for (let i = 0; i < 3; i++) await hit(key);
    const before = asked.length;
    const closed = store.close();
    await Promise.resolve();
    expect(asked.length - before).toBeLessThan(300);
    await closed;
    expect(keys.map(known)).toEqual(keys.map(() => 3));

    let isAway = false;
    let tries = 0;
    const other = sliced({ most: 1000, meets: () => isAway && ++tries > 0 && throwAway() });
    for (const key of keys) for (let i = 0; i < 3; i++) await other.hit(key);
    isAway = true;
    await other.store.close();
    expect(tries).toBe(256);
    expect(keys.map(other.known)).toEqual(keys.map(() => 1));
    expect(other.asked).toHaveLength(600);
  });

  test("who does not come back is told of all the same, and let go of", async () => {
    const { store, hit, known, asked, pass } = sliced();
    for (let i = 0; i < 5; i++) await hit("a");
    await hit("b");
    await pass(199);
    expect(asked).toEqual([1, 1]);
    await pass(1);
    expect(asked).toEqual([1, 1, 4]);
    expect(known("a")).toBe(5);
    await pass(10_000);
    await pass(10_000);
    expect(asked).toHaveLength(3);
    expect(slicesOf(store, { rule: "r", key: "a" })).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("who does not come back is let go of, however long others may wait until they are told of", async () => {
    const { store, hit, pass } = sliced({ most: 1_000, restMs: 60_000, idleMs: 5_000 });
    const keys = Array.from({ length: 200 }, (_, i) => `client ${i}`);
    for (const key of keys) await hit(key);
    for (let i = 0; i < 2; i++) await hit("a");
    await pass(4_000);
    const stays = () => keys.filter((key) => slicesOf(store, { rule: "r", key }) !== undefined);
    expect(stays()).toHaveLength(200);
    await pass(16_000);
    expect(stays()).toEqual([]);
    expect(slicesOf(store, { rule: "r", key: "a" })).toMatchObject([{ taken: 1 }]);
  });

  test("who goes on stays, in a crowd too, although the store hears of it later than others may idle", async () => {
    const { store, hit, pass } = sliced({ most: 300, restMs: 5_000, idleMs: 6_000 });
    const keys = Array.from({ length: 200 }, (_, i) => `client ${i}`);
    const asked = [];
    for (let ms = 0; ms < 20_000; ms += 1_000) {
      for (const key of keys) asked.push((await hit(key, steady)).source === "store");
      await pass(1_000);
    }
    expect(asked.filter(Boolean)).toHaveLength(200);
    for (const key of keys) expect(store.sliceOf({ rule: "r", key })).toBeDefined();
  });

  test("of many who came once, all are let go of in time, by some dozen timers a second", async () => {
    const { store, hit, pass } = sliced({ most: 10_000, idleMs: 3_000, restMs: 60_000 });
    const keysOf = (name: string) => Array.from({ length: 2_500 }, (_, i) => `${name} ${i}`);
    for (const key of keysOf("once")) await hit(key);
    for (const key of [...keysOf("twice"), ...keysOf("twice")]) await hit(key);
    await pass(3_000);
    const timers = vi.spyOn(globalThis, "setTimeout");
    await pass(1_000);
    expect(timers.mock.calls.length).toBeLessThanOrEqual(60);
    timers.mockRestore();
    const stay = (name: string) => keysOf(name).filter((key) => store.sliceOf({ rule: "r", key }));
    await pass(2_000);
    expect(stay("once")).toEqual([]);
    expect(stay("twice")).toHaveLength(2_500);
  });

  test("costs nothing while nobody comes to try a store in doubt with", async () => {
    let isAway = false;
    const { hit, pass } = sliced({ meets: () => isAway && throwAway() });
    for (let i = 0; i < 5; i++) await hit(`client ${i}`);
    isAway = true;
    await expect(hit("other")).rejects.toThrow("away");
    const timers = vi.spyOn(globalThis, "setTimeout");
    await pass(3_000);
    expect(timers.mock.calls.length).toBeLessThanOrEqual(5);
    timers.mockRestore();
  });

  test.each([
    // After one to two seconds at first, then every second.
    ["at leisure", steady, 8, [3 * 60, 5 * 60]],
    // 32 of the 250 hits it may take are urgent: 320 ms of them, and 200 to 400 until it is told of.
    ["soon, where it has taken an eighth of its slice,", upTo(1_000), 16, [6 * 60, 10 * 60]],
  ] as const)(
    "is told of %s in turn with all who came when it did, some at a time",
    async (_, limit, mostAtOnce, [least, most]) => {
      const { hit, asked, pass } = sliced();
      const keys = Array.from({ length: 60 }, (_, i) => `client ${i}`);
      const asksWithin: number[] = [];
      for (let ms = 0; ms < 4_000; ms += 10) {
        const before = asked.length;
        for (const key of keys) await hit(key, limit);
        asksWithin.push(asked.length - before);
        const beforeRound = asked.length;
        await pass(10);
        expect(asked.length - beforeRound).toBeLessThanOrEqual(mostAtOnce);
      }
      expect(asksWithin).toEqual([60, ...Array(399).fill(0)]);
      expect(asked.length).toBeGreaterThanOrEqual(least);
      expect(asked.length).toBeLessThanOrEqual(most);
    },
  );

  /** Others come all the time, so that the store is heard of. */
  async function amongOthers({ hit, pass }: ReturnType<typeof sliced>, ms: number): Promise<void> {
    for (let i = 0; i < ms; i += 50) {
      await hit(`other ${crypto.randomUUID()}`);
      await pass(50);
    }
  }

  test("that has taken less than an eighth of its slice is told of at leisure", async () => {
    const all = sliced({ most: 1_000 });
    for (let i = 0; i < 4; i++) await all.hit("a");
    await amongOthers(all, 700);
    expect(all.known("a")).toBe(1);
    await amongOthers(all, 300);
    expect(all.known("a")).toBe(4);
  });

  test("that comes to an eighth while it waits is told of soon after", async () => {
    const all = sliced({ most: 1_000 });
    for (let i = 0; i < 4; i++) await all.hit("a");
    await amongOthers(all, 400);
    await all.hit("a");
    await amongOthers(all, 100);
    expect(all.known("a")).toBe(1);
    await amongOthers(all, 100);
    expect(all.known("a")).toBe(5);
  });

  test("is told of soon where somebody else failed, though it is not due: the store may be there for all others", async () => {
    const away: unknown[] = [];
    const { hit, known, pass } = sliced({
      meets: ([check]) => check?.key === "elsewhere" && throwAway(),
      onAway: (error) => away.push(error),
    });
    for (let i = 0; i < 2; i++) await hit("a");
    await pass(300);
    expect(known("a")).toBe(1);
    for (let ms = 0; ms < 3_000; ms += 10) {
      await hit("elsewhere").catch(() => {});
      if (ms % 100 === 50) await hit("a");
      await pass(10);
      if (ms === 10) expect(known("a")).toBe(2);
    }
    expect(away).toEqual([]);
  });

  test("keeps less to itself in a dozen processes than would make it cross", async () => {
    const check: Check = { rule: "r", key: "a", limit: slow };
    const counts = memoryStore({ clock: virtualClock(start) });
    const usual = { share: 0.25, everyMs: 200, restMs: 1_000, idleMs: 5_000, most: 100 };
    const stores = Array.from({ length: 12 }, () => slicingStore(counts, usual));
    for (const store of stores) await store.decide([check]);
    let hidden = 0;
    for (const store of stores) {
      const slice = store.sliceOf(check) as Slice<unknown>;
      while (slice.taken + 1 < slice.urgentFrom) store.countHere([slice]);
      hidden += slice.taken;
    }
    expect(hidden).toBeGreaterThan(12);
    expect(hidden).toBeLessThan(counts.peek([check])[0]?.remaining ?? 0);
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

test("the store hears of every hit once, however they come and however long it takes to answer", async () => {
  const few = fc.record({ hits: fc.nat(12), ms: fc.nat(400), answerMs: fc.nat(900) });
  await fc.assert(
    fc.asyncProperty(fc.array(few, { minLength: 5, maxLength: 40 }), async (turns) => {
      let answerMs = 0;
      const { store, asked, pass } = sliced({
        meets: () => new Promise((resolve) => setTimeout(resolve, answerMs)),
      });
      const check: Check = { rule: "r", key: "a", limit: upTo(1_000) };
      for (const turn of turns) {
        answerMs = turn.answerMs;
        for (let i = 0; i < turn.hits; i++) void store.decide([check]);
        await pass(turn.ms);
      }
      await pass(900);
      const closed = store.close();
      await pass(900);
      await closed;
      expect(Math.min(1, ...asked)).toBe(1);
      expect(asked.reduce((sum, cost) => sum + cost, 0)).toBe(turns.reduce((sum, { hits }) => sum + hits, 0));
    }),
    { numRuns: 50 },
  );
});

test("nobody stands in others' way to be told of, however often it is asked about itself", async () => {
  const { store, hit, asked, pass } = sliced({ most: 10_000 });
  const fast = earrrl({ rate: 100, halfLife: 30_000 });
  const busy = () => store.decide([{ rule: "busy", key: "a", limit: fast }]);
  for (let i = 0; i < 4270; i++) await busy();
  const before = asked.length;
  let asks = 0;
  for (let ms = 0; ms < 10_000; ms += 10) {
    const first = asked.length;
    await busy();
    asks += asked.length - first;
    if (ms % 50 === 0) for (let i = 0; i < 3; i++) await hit(`client ${ms}`);
    await pass(10);
  }
  expect(asks).toBeGreaterThan(30);
  await pass(1_500);
  // Of each client the first hit was asked about, and the others came in a sum.
  expect(asked.slice(before).filter((cost) => cost === 2).length).toBeGreaterThanOrEqual(200);
});

test("a call that fails costs nobody else anything", async () => {
  const meets = (checks: readonly Check[]) => checks.some(({ key }) => key === "bad") && throwAway();
  const { store, counts, hit, pass } = sliced({ meets });
  for (let i = 0; i < 400; i++) {
    await hit("good", steady);
    if (i % 4 === 0) await hit("bad", steady).catch(() => {});
    await pass(5);
  }
  await store.close();
  const [told] = counts.peek([{ rule: "r", key: "good", limit: steady }]);
  const [fresh] = counts.peek([{ rule: "r", key: "fresh", limit: steady }]);
  expect((fresh?.remaining ?? 0) - (told?.remaining ?? 0)).toBe(400);
});

test("what a failing call brought along is told to be lost, and what came since is told with the next", async () => {
  let isAway = false;
  const lost: number[] = [];
  const { store, known, pass } = sliced({
    async meets() {
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (isAway) throwAway();
    },
    onLost: ({ key }, hits) => lost.push(key === "a" ? hits : Number.NaN),
  });
  const check: Check = { rule: "r", key: "a", limit: slow };
  const first = store.decide([check]);
  await pass(50);
  await first;
  const slices = slicesOf(store, check) ?? [];
  for (let i = 0; i < 5; i++) expect(store.countHere(slices)).toBe(true);
  isAway = true;
  await pass(210);
  // Its hits are under way, and it goes on.
  for (let i = 0; i < 3; i++) expect(store.countHere(slices)).toBe(true);
  await pass(50);
  expect(lost).toEqual([5]);
  expect(store.countHere(slices)).toBe(false);
  isAway = false;
  await pass(300);
  expect(known("a")).toBe(4);
});

test("a store that fails for all is away, and back with the first answer for which it had to write", async () => {
  let isAway = false;
  const told: string[] = [];
  const { store, hit, clock } = sliced({
    meets: () => isAway && throwAway(),
    onAway: (error) => told.push(String(error)),
    onBack: () => told.push("back"),
  });
  await hit("a");
  for (let i = 0; i < 102; i++) await hit("refused");
  const slices = slicesOf(store, { rule: "r", key: "a" }) ?? [];
  isAway = true;
  for (let i = 0; i < 10; i++) await hit(`b ${i}`).catch(() => {});
  expect(told).toEqual([]);
  clock.advance(400);
  await hit("c").catch(() => {});
  expect(told).toEqual(["Error: away"]);
  expect(store.countHere(slices)).toBe(false);
  for (let i = 0; i < 10; i++) await hit(`d ${i}`).catch(() => {});
  isAway = false;
  await hit("refused");
  expect(told).toHaveLength(1);
  await hit("e");
  expect(told).toEqual(["Error: away", "back"]);
});

describe("a store that goes while a client comes that hardly takes anything,", () => {
  test("is found to be away soon after it was to be told of that client", async () => {
    let isAway = false;
    let awayAfter = Number.NaN;
    const { store, hit, pass, clock } = sliced({
      meets: () => isAway && throwAway(),
      onAway: () => {
        awayAfter = clock() - goneAt;
      },
    });
    await hit("a", steady);
    await pass(5_000);
    await hit("a", steady);
    isAway = true;
    const goneAt = clock();
    for (let i = 0; i < 200 && Number.isNaN(awayAfter); i++) {
      await pass(10);
      await Promise.resolve(hit("a", steady)).catch(() => {});
    }
    expect(awayAfter).toBeLessThanOrEqual(1_200);
    expect(store.sliceOf({ rule: "r", key: "a" })).toBeUndefined();
  });

  test("or freezes, is found to be away once calls of soon after have failed", async () => {
    let isFrozen = false;
    let awayAfter = Number.NaN;
    const { store, pass, clock } = sliced({
      meets: () => isFrozen && never(),
      onAway: () => {
        awayAfter = clock() - frozenAt;
      },
    });
    const hit = async () => store.decide([{ rule: "r", key: "a", limit: steady }], { deadlineMs: 2_000 });
    await hit();
    await hit();
    isFrozen = true;
    const frozenAt = clock();
    for (let i = 0; i < 500 && Number.isNaN(awayAfter); i++) {
      await pass(10);
      void hit().catch(() => {});
    }
    // Told of after a second, asked about 600 ms later: the fifth of these fails after 2 s.
    expect(awayAfter).toBeLessThanOrEqual(3_700);
  });

  test("or freezes, with many others there, is told of each once", async () => {
    let isFrozen = false;
    let tells = 0;
    const { hit, pass } = sliced({ meets: () => isFrozen && ++tells && never() });
    for (let i = 0; i < 60; i++) for (let hits = 0; hits < 2; hits++) await hit(`client ${i}`);
    isFrozen = true;
    await pass(3_000);
    expect(tells).toBe(60);
  });
});

test("one that fails while closing keeps nobody else from being told of", async () => {
  let isClosing = false;
  const meets = ([first]: readonly Check[]) => isClosing && first?.key === "client 7" && throwAway();
  const { store, hit, known } = sliced({ most: 1000, meets });
  const keys = Array.from({ length: 600 }, (_, i) => `client ${i}`);
  for (const key of keys) for (let i = 0; i < 3; i++) await hit(key);
  isClosing = true;
  await store.close();
  expect(keys.map(known).filter((hits) => hits !== 3)).toEqual([1]);
});

test("whom the store refuses when it is told of, because of what others counted, is told of here", async () => {
  const refused: unknown[] = [];
  const { store, counts, pass } = sliced({
    onRefused: ({ about }, verdicts) => refused.push([about, verdicts.map(({ allowed }) => allowed)]),
  });
  const check: Check = { rule: "r", key: "a", limit: slow };
  await store.decide([check]);
  const slices = slicesOf(store, check) ?? [];
  for (const slice of slices) slice.about = "who it was";
  for (let i = 0; i < 5; i++) expect(store.countHere(slices)).toBe(true);
  counts.decide([{ ...check, cost: 101 }]);
  await pass(200);
  expect(refused).toEqual([["who it was", [false]]]);
  expect(store.countHere(slices)).toBe(false);
});

test("closing waits no longer than the deadline for a store that keeps none", async () => {
  let isHung = false;
  const { store, pass } = sliced({ meets: () => isHung && never() });
  for (let i = 0; i < 3; i++)
    await store.decide([{ rule: "r", key: "a", limit: slow }], { deadlineMs: 1_000 });
  isHung = true;
  const closed = store.close();
  await pass(1_000);
  await closed;
});

test("more keys than are counted here are asked about each time", async () => {
  const { hit, asked } = sliced({ most: 2 });
  for (let i = 0; i < 3; i++) for (const key of ["a", "b", "c", "d"]) await hit(key);
  expect(asked).toHaveLength(4 + 2 * 2);
});

test("a store that goes away is asked about everyone anew when it is back", async () => {
  let isAway = false;
  const { hit, asked, pass } = sliced({ meets: () => isAway && throwAway() });
  for (let i = 0; i < 3; i++) await hit("a");
  isAway = true;
  await pass(1_000);
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
  const store = slicingStore(slowly, {
    share: 0.25,
    everyMs: 200,
    restMs: 1_000,
    idleMs: 5_000,
    most: 100,
    now: clock,
  });
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

describe("a hit of one whose slices are at hand", () => {
  const about = (key: string) => ({ rule: "r", key });

  function ofSlices(terms: Terms = {}) {
    const all = sliced(terms);
    const slices = (...keys: string[]) => slicesOf(all.store, ...keys.map(about));
    const countHere = (...keys: string[]) => all.store.countHere(slices(...keys) ?? []);
    return { ...all, slices, countHere };
  }

  test("counts as any other, as long as nothing need be asked", async () => {
    const { hit, known, asked, pass, slices, countHere } = ofSlices();
    expect(slices("a")).toBeUndefined();
    await hit("a");
    for (let i = 0; i < 5; i++) expect(countHere("a")).toBe(true);
    for (let i = 0; i < 15; i++) await hit("a");
    expect(asked).toEqual([1]);
    await pass(200);
    expect(countHere("a")).toBe(true);
    await pass(1_000);
    expect(asked).toEqual([1, 20, 1]);
    expect(known("a")).toBe(22);
  });

  test("never crosses: a quarter of what is left, and the store is asked", async () => {
    const { hit, countHere } = ofSlices();
    await hit("a");
    let counted = 0;
    while (countHere("a")) counted++;
    expect(counted).toBe(25);
  });

  test("of several that have to be counted together counts all or none", async () => {
    const { hit, known, pass, slices, store } = ofSlices();
    await hit("a");
    expect(slices("a", "b")).toBeUndefined();
    await hit("b");
    const both = slices("a", "b") ?? [];
    while (store.countHere(slices("b") ?? []));
    expect(store.countHere(both)).toBe(false);
    await pass(500);
    expect(["a", "b"].map(known)).toEqual([1, 26]);
  });

  test("is not counted for who was forgotten, ended, or while the store is away", async () => {
    let isAway = false;
    const { store, hit, pass, slices } = ofSlices({ meets: () => isAway && throwAway() });
    for (const key of ["a", "b", "c"]) await hit(key);
    const [a, b, c] = ["a", "b", "c"].map((key) => slices(key) ?? []) as [[], [], []];
    expect([a, b, c].map(({ length }) => length)).toEqual([1, 1, 1]);
    await store.forget([{ rule: "r", key: "a", limit: slow }]);
    expect(store.countHere(a)).toBe(false);
    await pass(4_990);
    expect(store.countHere(b)).toBe(true);
    await pass(5_000);
    expect(slices("c")).toBeUndefined();
    expect(store.countHere(c)).toBe(false);
    expect(store.countHere(b)).toBe(true);
    isAway = true;
    for (let i = 0; i < 5; i++) await hit(`other ${i}`).catch(() => {});
    expect(store.countHere(b)).toBe(false);
  });
});

test("after closing everyone is asked about", async () => {
  const { hit, known, store } = sliced();
  await store.close();
  for (let i = 0; i < 3; i++) expect((await hit("a")).source).toBe("store");
  expect(known("a")).toBe(3);
});
