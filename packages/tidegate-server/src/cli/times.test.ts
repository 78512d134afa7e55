import { expect, it } from "vitest";
import { relative, span, withIsoTimes } from "./times.js";

it.each([
  [0, "0 ms"],
  [250, "250 ms"],
  [1000, "1 s"],
  [90_000, "90 s"],
  [60_000, "1 min"],
  [3_600_000, "1 h"],
  [7_200_000, "2 h"],
  [86_400_000, "1 day"],
  [604_800_000, "7 days"],
  [Number.POSITIVE_INFINITY, "for ever"],
])("%d ms are %s", (ms, words) => {
  expect(span(ms)).toBe(words);
});

it("times are told from now", () => {
  expect(relative(10_000, 5_000)).toBe("in 5 s");
  expect(relative(5_000, 10_000)).toBe("5 s ago");
  expect(relative(5_000, 5_500)).toBe("now");
});

it("times in JSON are written out, and only times", () => {
  expect(withIsoTimes({ entries: [{ at: 0, until: 1e99, limit: 5 }], at: "x" })).toEqual({
    entries: [{ at: "1970-01-01T00:00:00.000Z", until: 1e99, limit: 5 }],
    at: "x",
  });
});
