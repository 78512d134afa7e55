import { describe, expect, it } from "vitest";
import { batchesOf, planFor } from "./plan.js";
import type { WantedEntry } from "./wanted.js";

const now = 1_000_000_000;
const s = (seconds: number): number => now + seconds * 1_000;

/** `until` in seconds from now, and a score. */
type Wish = readonly [key: string, until: number, score?: number];
type Stands = readonly [key: string, until: number];

interface Case {
  readonly is: string;
  readonly wanted?: readonly Wish[];
  readonly current?: readonly Stands[];
  readonly cleared?: readonly string[];
  readonly remove?: readonly string[];
  readonly put?: readonly string[];
}

const cases: readonly Case[] = [
  { is: "nothing wanted, nothing there" },
  { is: "wanted and not there: put", wanted: [["a", 60]], put: ["a"] },
  { is: "there and not wanted: removed", current: [["a", 60]], remove: ["a"] },
  { is: "there as wanted: left alone", wanted: [["a", 60]], current: [["a", 60]] },
  { is: "up to a second longer, as edges round: left alone", wanted: [["a", 60]], current: [["a", 60.999]] },
  { is: "ended and not wanted: swept away", current: [["a", -1]], remove: ["a"] },
  { is: "ended but wanted: put", wanted: [["a", 60]], current: [["a", 0]], put: ["a"] },
  {
    is: "ends a little too soon, with most of it left: left alone",
    wanted: [["a", 60]],
    current: [["a", 30]],
  },
  { is: "less than a quarter left: put anew", wanted: [["a", 60]], current: [["a", 14]], put: ["a"] },
  { is: "exactly a quarter left: left alone", wanted: [["a", 60]], current: [["a", 15]] },
  { is: "a much longer hold: put anew at once", wanted: [["a", 300]], current: [["a", 50]], put: ["a"] },
  { is: "would end before the next look: put anew", wanted: [["a", 12]], current: [["a", 9]], put: ["a"] },
  { is: "ends soon, as wanted: left alone", wanted: [["a", 5]], current: [["a", 5]] },
  {
    is: "more than ten minutes short: put anew",
    wanted: [["a", 3_600]],
    current: [["a", 2_999]],
    put: ["a"],
  },
  { is: "ten minutes short of an hour: left alone", wanted: [["a", 3_600]], current: [["a", 3_000]] },
  { is: "two seconds too long: shortened", wanted: [["a", 60]], current: [["a", 62]], put: ["a"] },
  {
    is: "cleared by hand goes first, then the released, then what ended",
    current: [
      ["ended", -5],
      ["released", 60],
      ["cleared", 60],
    ],
    cleared: ["cleared"],
    remove: ["cleared", "released", "ended"],
  },
  {
    is: "new ones before longer ones, each worst first, of equals whoever is held longest",
    wanted: [
      ["longer", 300, 99],
      ["mild", 60, 2],
      ["worst", 60, 9],
      ["mild and long", 90, 2],
      ["longer and mild", 300, 3],
    ],
    current: [
      ["longer", 20],
      ["longer and mild", 20],
    ],
    put: ["worst", "mild and long", "mild", "longer", "longer and mild"],
  },
  {
    is: "one released while another comes",
    wanted: [["b", 60]],
    current: [["a", 60]],
    remove: ["a"],
    put: ["b"],
  },
];

function wish([key, until, score = 1]: Wish): [string, WantedEntry] {
  return [key, { until: s(until), score, rule: "r", crossedAt: now, share: 0 }];
}

function planned({ wanted = [], current = [], cleared = [] }: Case) {
  return planFor({
    wanted: new Map(wanted.map(wish)),
    current: new Map(current.map(([key, until]) => [key, s(until)])),
    cleared: new Set(cleared),
    now,
    soonMs: 10_000,
  });
}

describe("a plan is the difference between what is wanted and what is there", () => {
  it.each(cases)("$is", (row) => {
    const { remove, put } = planned(row);
    expect(remove).toEqual(row.remove ?? []);
    expect(put.map(({ key }) => key)).toEqual(row.put ?? []);
  });

  it.each(cases)("applied once, nothing is left to do: $is", (row) => {
    const { remove, put } = planned(row);
    const current = new Map((row.current ?? []).map(([key, until]) => [key, s(until)]));
    for (const key of remove) current.delete(key);
    for (const { key, until } of put) current.set(key, Math.ceil(until / 1_000) * 1_000);
    const again = planned({
      ...row,
      current: [...current].map(([key, until]) => [key, (until - now) / 1_000]),
    });
    expect(again).toEqual({ remove: [], put: [] });
  });
});

describe("a plan in pieces", () => {
  const plan = {
    remove: ["a", "b", "c"],
    put: [1, 2, 3, 4].map((i) => ({
      key: String(i),
      until: s(60),
      rule: "r",
      crossedAt: now,
      share: 0,
      isNew: true,
    })),
  };

  it.each([1, 2, 3, 4, 5, 7, 100])("of %i keeps every change, and their order", (most) => {
    const pieces = [...batchesOf(plan, most)];
    expect(pieces.flatMap(({ remove }) => remove)).toEqual(plan.remove);
    expect(pieces.flatMap(({ put }) => put)).toEqual(plan.put);
    for (const { remove, put } of pieces) {
      expect(remove.length + put.length).toBeLessThanOrEqual(most);
      expect(remove.length + put.length).toBeGreaterThan(0);
    }
  });
});
