import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { iso, relative, span, withIsoTimes } from "./times.js";

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

it("every time of the admin API is written out; those of graphs and reports are not printed", () => {
  const file = new URL("../../openapi.json", import.meta.url);
  const { schemas } = JSON.parse(readFileSync(file, "utf8")).components as {
    schemas: Record<string, unknown>;
  };
  const names = Object.entries(schemas).flatMap(([of, schema]) =>
    /^(Rehears|Series)/.test(of) ? [] : timesIn(schema),
  );
  expect(names).toContain("refusedAt");
  for (const name of names) expect(withIsoTimes({ [name]: 0 }), name).toEqual({ [name]: iso(0) });
});

function timesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([name, each]) =>
    each?.description === "Milliseconds since the epoch." ? [name] : timesIn(each),
  );
}
