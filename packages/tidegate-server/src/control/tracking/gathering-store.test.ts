import { fixedWindow, memoryStore, type Store } from "tidegate";
import { virtualClock } from "tidegate/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gatheringStore } from "./gathering-store.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const limit = fixedWindow({ limit: 2, window: "1m" });
const options = { fewWaitMs: 1, manyWaitMs: 4, many: 3 };

/** Notes when it is asked. */
function askedStore(decide?: Store["decide"]) {
  const store = memoryStore({ clock: virtualClock(1_700_000_000_000) });
  const asked: string[] = [];
  const noting: Store = {
    decide(checks, terms) {
      asked.push(checks[0]?.key ?? "");
      return decide === undefined ? store.decide(checks) : decide(checks, terms);
    },
    peek: (checks) => store.peek(checks),
    refund: (charges) => store.refund(charges),
    hold: (rule, key, forMs) => store.hold(rule, key, forMs),
    forget: (checks) => store.forget(checks),
  };
  return { asked, gathering: gatheringStore(noting, options) };
}

test("few go soon, many wait for more, and each gets its own answer", async () => {
  const { asked, gathering } = askedStore();
  const ask = (key: string) => gathering.decide([{ rule: "r", key, limit }]);
  const first = [ask("a"), ask("a"), ask("a")];
  expect(asked).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(asked).toEqual(["a", "a", "a"]);
  const answers = await Promise.all(first);
  expect(answers.map(([verdict]) => verdict?.allowed)).toEqual([true, true, false]);
  void ask("b");
  vi.advanceTimersByTime(3);
  expect(asked).toHaveLength(3);
  vi.advanceTimersByTime(1);
  expect(asked).toHaveLength(4);
  void ask("c");
  vi.advanceTimersByTime(1);
  expect(asked).toHaveLength(5);
});

test("what the store throws or refuses is the answer of whoever asked, and of nobody else", async () => {
  let turn = 0;
  const { gathering } = askedStore(() => {
    if (++turn === 1) throw new Error("at once");
    return turn === 2 ? Promise.reject(new Error("later")) : [];
  });
  const asked = ["a", "b", "c"].map((key) => gathering.decide([{ rule: "r", key, limit }]));
  const settled = Promise.allSettled(asked);
  vi.advanceTimersByTime(1);
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});
