import { expect, it } from "vitest";
import type { SetMode } from "../data.js";
import type { EdgeMode } from "../edge.js";
import { type EdgeStop, modeUnder, nextStop } from "./edge-stop.js";

const minute = 60_000;
const said = (mode: EdgeMode, at: number): SetMode => ({ mode, at, who: "ann" });

it("a guard stops an edge in shadow, and nothing but a person starts it again", () => {
  let stop: EdgeStop = {};
  stop = nextStop(stop, { wrong: "a flood", set: undefined, now: 0 });
  expect(stop.stopped).toEqual({ why: "a flood", at: 0 });
  expect(modeUnder(stop, undefined)).toBe("shadow");
  stop = nextStop(stop, { wrong: undefined, set: undefined, now: 60 * minute });
  expect(modeUnder(stop, undefined)).toBe("shadow");
  stop = nextStop(stop, { wrong: undefined, set: said("on", 61 * minute), now: 61 * minute });
  expect(modeUnder(stop, said("on", 61 * minute))).toBe("on");
});

it("what a person said before does not speak against the guard", () => {
  const stop = nextStop({}, { wrong: "a flood", set: said("on", 0), now: minute });
  expect(nextStop(stop, { wrong: "a flood", set: said("on", 0), now: 2 * minute }).stopped).toBeDefined();
});

it("a guard that was overridden is silent until it had nothing to say for ten minutes", () => {
  const set = said("on", minute);
  let stop: EdgeStop = { stopped: { why: "a flood", at: 0 } };
  stop = nextStop(stop, { wrong: "a flood", set, now: minute });
  stop = nextStop(stop, { wrong: "a flood", set, now: 9 * minute });
  stop = nextStop(stop, { wrong: "a flood", set, now: 18 * minute });
  expect(stop.stopped).toBeUndefined();
  stop = nextStop(stop, { wrong: undefined, set, now: 29 * minute });
  expect(nextStop(stop, { wrong: "a flood", set, now: 30 * minute }).stopped).toBeDefined();
});

it("off stays off, whatever a guard says", () => {
  expect(modeUnder({ stopped: { why: "a flood", at: 1 } }, said("off", 0))).toBe("off");
});
