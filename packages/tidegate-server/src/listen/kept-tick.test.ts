import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { keepTick, keptTick } from "./kept-tick.js";

it("what is kept is an entry of node's own queue, and the first one stays", async () => {
  keepTick();
  await setImmediate();
  const kept = keptTick();
  expect(Object.keys(kept ?? {})).toEqual(["callback", "args"]);
  keepTick();
  await setImmediate();
  expect(keptTick()).toBe(kept);
});
