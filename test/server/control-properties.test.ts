import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import { type ControlRig, controlRig, digestOf, offenderOf, wipeTable } from "./control-support.js";

type Act =
  | { readonly do: "hold"; readonly client: number; readonly seconds: number; readonly score: number }
  | { readonly do: "clear" | "stray" | "vanish" | "foreign"; readonly client: number }
  | { readonly do: "pass"; readonly seconds: number }
  | { readonly do: "fail" | "fail late"; readonly calls: number }
  | { readonly do: "wipe" | "restart" | "second" | "wait" };

const client = fc.nat({ max: 14 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("hold" as const),
      client,
      seconds: fc.integer({ min: 1, max: 900 }),
      score: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("clear", "stray", "vanish", "foreign"), client }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("pass" as const), seconds: fc.integer({ min: 1, max: 120 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("fail", "fail late"), calls: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("wipe", "restart", "second", "wait") }) },
);

/** An edge that fails so many times, before it has done anything or after. */
function faulty(faults: { early: number; late: number }): (edge: Edge) => Edge {
  async function once<T>(work: () => Promise<T>): Promise<T> {
    if (faults.early > 0) {
      faults.early--;
      throw new Error("failed");
    }
    const result = await work();
    if (faults.late > 0) {
      faults.late--;
      throw new Error("the answer was lost");
    }
    return result;
  }
  return (edge) => ({
    ...edge,
    abilities: { ...edge.abilities, maxBatch: 3, maxEntries: 10 },
    current: (asked, signal) => once(() => edge.current(asked, signal)),
    apply: (changes, signal) => once(() => edge.apply(changes, signal)),
    setMode: (mode, signal) => once(() => edge.setMode(mode, signal)),
  });
}

/** Plays what happened, and expects the edge to be as wished in the end. */
async function play(acts: readonly Act[]): Promise<void> {
  const faults = { early: 0, late: 0 };
  const through = faulty(faults);
  const settings = { everyMs: 10 };
  const first = controlRig({ through, settings });
  const { clock, data, table } = first;
  const open = (): ControlRig => controlRig({ clock, data, table, through, settings });
  let loops = [first];
  const foreign = new Set<string>();
  const nameOf = (i: number): string => (i % 2 === 0 ? digestOf(i) : `203.0.113.${i}`);

  const acting: Record<Act["do"], (each: never) => unknown> = {
    hold: ({ client: i, seconds, score }: Extract<Act, { do: "hold" }>) =>
      data.offenders.add(
        offenderOf(nameOf(i), { until: clock() + seconds * 1_000, score, crossedAt: clock() }),
      ),
    clear: async ({ client: i }: { client: number }) => {
      await data.edgeBook.addClears([nameOf(i)], { until: clock() + 60_000, who: "ann" });
      await data.offenders.remove([nameOf(i)]);
    },
    stray: ({ client: i }: { client: number }) => {
      if (!foreign.has(nameOf(i))) table.items.set(nameOf(i), String(Math.ceil(clock() / 1_000) + 500));
    },
    vanish: ({ client: i }: { client: number }) => {
      if (!foreign.has(nameOf(i))) table.items.delete(nameOf(i));
    },
    foreign: ({ client: i }: { client: number }) => {
      const key = `somebody's ${i}`;
      foreign.add(key);
      table.items.set(key, "true");
    },
    pass: ({ seconds }: { seconds: number }) => clock.shift(seconds * 1_000),
    fail: ({ calls }: { calls: number }) => {
      faults.early += calls;
    },
    "fail late": ({ calls }: { calls: number }) => {
      faults.late += calls;
    },
    wipe: () => {
      wipeTable(table);
      foreign.clear();
    },
    restart: async () => {
      await Promise.all(loops.map(({ loop }) => loop.close()));
      loops = [open()];
    },
    second: () => loops.push(open()),
    wait: () => setImmediate(),
  };
  try {
    for (const each of acts) await acting[each.do](each as never);
    faults.early = 0;
    faults.late = 0;
    await vi.waitFor(() => expectRight(first, foreign), { timeout: 15_000, interval: 10 });
  } finally {
    await Promise.all(loops.map(({ loop }) => loop.close()));
  }
}

async function expectRight(
  { data, clock, table, standing }: ControlRig,
  foreign: Set<string>,
): Promise<void> {
  const now = clock();
  const cleared = new Set((await data.edgeBook.clears()).map(({ key }) => key));
  const held = (await data.offenders.now()).filter(
    ({ key, until }) => !cleared.has(key) && until > now + 2_000,
  );
  const room = Math.max(0, 10 - foreign.size);
  const there = standing();
  const wanted = held.sort((a, b) => b.score - a.score || b.until - a.until);
  // Whoever is about to end may be gone, or still be there.
  const ending = (await data.offenders.now())
    .filter(({ until }) => until <= now + 2_000)
    .map(({ key }) => key);
  if (ending.length > 0) throw new Error("not yet");
  expect([...there.keys()].sort()).toEqual(
    wanted
      .slice(0, room)
      .map(({ key }) => key)
      .sort(),
  );
  for (const { key, until } of wanted.slice(0, room)) expect(there.get(key)).toBeLessThan(until + 2_000);
  expect(table.mode).toBe("on");
  for (const key of foreign) expect(table.items.get(key)).toBe("true");
}

it("whatever happens, the edge is as wished in the end, and others' entries are untouched", {
  timeout: 120_000,
}, async () => {
  await fc.assert(fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 40 }), play), {
    numRuns: 60,
    seed: 5,
    endOnFailure: true,
  });
});
