import { expect, it } from "vitest";
import type { SetMode } from "../data.js";
import type { EdgeMode } from "../edge.js";
import { afterQuiet, type EdgeStop, isWorthKeeping, nextStop, readStop } from "./edge-stop.js";

const minute = 60_000;
const said = (mode: EdgeMode, at: number): SetMode => ({ mode, at, who: "ann" });
const flood = { stopped: { why: "a flood", at: 0 } };

it("a guard stops a plan, and as long as something is withheld nothing but a person lets it go on", () => {
  let stop: EdgeStop = {};
  stop = nextStop(stop, { wrong: "a flood", set: undefined, now: 0 });
  expect(stop).toEqual(flood);
  stop = afterQuiet(stop, 3, 60 * minute);
  stop = nextStop(stop, { wrong: undefined, set: undefined, now: 60 * minute });
  expect(stop).toEqual(flood);
  stop = nextStop(stop, { wrong: undefined, set: said("on", 61 * minute), now: 61 * minute });
  expect(stop.stopped).toBeUndefined();
});

it("what a person said before does not speak against the guard, nor does anything but on", () => {
  const stop = nextStop({}, { wrong: "a flood", set: said("on", 5), now: minute });
  expect(nextStop(stop, { wrong: "a flood", set: said("on", 5), now: 2 * minute }).stopped).toBeDefined();
  expect(nextStop(stop, { wrong: "a flood", set: said("off", 9), now: 2 * minute }).stopped).toBeDefined();
});

it("a person's on counts, by whosever clock", () => {
  const stop = nextStop({}, { wrong: "a flood", set: said("on", 10 * minute), now: 20 * minute });
  const on = said("on", 5 * minute);
  expect(nextStop(stop, { wrong: "a flood", set: on, now: 21 * minute }).stopped).toBeUndefined();
});

it("a guard that was overridden is silent until it had nothing to say for ten minutes", () => {
  const set = said("on", minute);
  let stop: EdgeStop = flood;
  stop = nextStop(stop, { wrong: "a flood", set, now: minute });
  stop = nextStop(stop, { wrong: "a flood", set, now: 9 * minute });
  stop = nextStop(stop, { wrong: "a flood", set, now: 18 * minute });
  expect(stop.stopped).toBeUndefined();
  stop = nextStop(stop, { wrong: undefined, set, now: 29 * minute });
  expect(nextStop(stop, { wrong: "a flood", set, now: 30 * minute }).stopped).toBeDefined();
});

it("a stop that has had nothing to withhold for ten minutes is over, whatever happened before", () => {
  let stop: EdgeStop = afterQuiet(flood, 0, minute);
  stop = afterQuiet(stop, 1, 10 * minute);
  stop = afterQuiet(stop, 0, 11 * minute);
  stop = afterQuiet(stop, 0, 20 * minute);
  expect(stop.stopped).toBeDefined();
  expect(afterQuiet(stop, 0, 21 * minute)).toEqual({});
  // The clock was set back: it waits anew, not for an hour.
  const back = afterQuiet(stop, 0, 0);
  expect(afterQuiet(back, 0, 10 * minute)).toEqual({});
});

it("what is written down is read back, and anything else is nothing", () => {
  const stops: EdgeStop[] = [
    {},
    flood,
    { stopped: { why: "x", at: 1, setAt: 2, quietSince: 3 } },
    { overriddenUntil: 7 },
  ];
  for (const stop of stops) expect(readStop(JSON.parse(JSON.stringify(stop)))).toEqual(stop);
  for (const other of [undefined, null, 7, "x", [], { stopped: null }, { stopped: { why: 7, at: 1 } }])
    expect(readStop(other)).toEqual({});
});

it("is written down when whoever comes next has to know, not for each step of an override", () => {
  expect(isWorthKeeping(flood, {})).toBe(true);
  expect(isWorthKeeping({}, flood)).toBe(true);
  expect(isWorthKeeping(flood, flood)).toBe(false);
  expect(isWorthKeeping({ overriddenUntil: 10 * minute }, {})).toBe(true);
  expect(isWorthKeeping({ overriddenUntil: 10 * minute + 999 }, { overriddenUntil: 10 * minute })).toBe(
    false,
  );
});
