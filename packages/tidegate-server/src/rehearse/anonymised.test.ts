import { expect, it } from "vitest";
import { anonymised } from "./anonymised.js";
import type { ReplayReport } from "./replay-report.js";

const report = {
  requests: 5,
  rules: [{ rule: "req/ip", refused: 3 }],
  offenders: [
    {
      client: "203.0.113.7",
      address: "203.0.113.7",
      userAgent: "Mozilla/5.0 eva",
      rule: "req/ip",
      requests: 5,
      refused: 3,
    },
  ],
  falsePositives: [{ client: "203.0.113.70", words: "203.0.113.70 and 203.0.113.7 send Mozilla/5.0 eva." }],
  change: { worst: [{ client: "203.0.113.7", newlyRefused: 2 }] },
  notes: ["203.0.113.7 is busy."],
  input: { lines: 6, samples: [{ file: "a", line: 1, text: "203.0.113.7 nonsense" }], files: [] },
} as unknown as ReplayReport;

it("no client and no user agent stands anywhere, and all numbers stay", () => {
  const hidden = anonymised(report);
  const text = JSON.stringify(hidden);
  expect(text).not.toMatch(/203\.0\.113|eva|nonsense/);
  expect(hidden).toMatchObject({
    requests: 5,
    offenders: [{ requests: 5, refused: 3, rule: "req/ip" }],
    input: { lines: 6 },
  });
  expect(hidden.change?.worst[0]?.client).toBe(hidden.offenders[0]?.client);
  expect(hidden.notes[0]).toBe(`${hidden.offenders[0]?.client} is busy.`);
});

it("digests are the same under one key only", () => {
  const name = (key?: string) => anonymised(report, key).offenders[0]?.client;
  expect(name("k")).toBe(name("k"));
  expect(name("k")).not.toBe(name("other"));
  expect(name()).not.toBe(name());
});
