import type { ClientReport } from "tidegate/simulate";
import { expect, it } from "vitest";
import { pageJson } from "./page-json.js";
import type { ReplayReport } from "./replay-report.js";

const mostBytes = 100_000;

function client(i: number, agent: string): ClientReport {
  return {
    client: `203.0.113.${i}`,
    address: `203.0.113.${i}`,
    rule: "req/ip",
    userAgent: agent,
    requests: 200_000 - i,
    refused: 100_000 - i,
    share: 0.5,
    firstRefusedAt: 0,
    lastRefusedAt: 1,
    longestHoldMs: 0,
  };
}

function reportOf(count: number, agent = "curl/8", files = 1): ReplayReport {
  const outcome = { allowed: 0, refused: 0, shadow: 0, delayed: 0, held: 0, refusedClients: count };
  const worstSecond = { at: 0, requests: 1 };
  const offenders = Array.from({ length: count }, (_, i) => client(i, agent));
  const facts = { lines: 1, malformed: 0, skipped: 0 };
  return {
    requests: 1,
    late: 0,
    clients: count,
    outcome,
    change: {
      newlyRefused: { requests: 1, clients: 1 },
      newlyPassed: { requests: 0, clients: 0 },
      worst: offenders.map(({ client: name, requests }) => ({
        client: name,
        requests,
        newlyRefused: 1,
        newlyPassed: 0,
      })),
    },
    series: { everyMs: 1000, at: [0], requests: [1], refused: [1], refusedBy: {} },
    worstSecond: { recorded: worstSecond, passed: worstSecond },
    rules: [],
    offenders,
    falsePositives: offenders
      .slice(0, 3)
      .map((each) => ({ ...each, why: "browser", words: "It looks like one." })),
    notes: ["a note"],
    input: {
      files: Array.from({ length: files }, (_, i) => ({
        name: `${i}.log`,
        format: "combined",
        bytes: 1,
        requests: 1,
        ...facts,
      })),
      ...facts,
      samples: [],
    },
  };
}

it("a report that fits stands there whole", () => {
  const report = reportOf(50);
  expect(JSON.parse(pageJson(report, mostBytes))).toEqual(report);
});

it("of more clients than fit the busiest stay, and a note tells how many there were", () => {
  const report = reportOf(20_000);
  const text = pageJson(report, mostBytes);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostBytes);
  const { offenders, change, falsePositives, notes, input } = JSON.parse(text) as ReplayReport;
  expect(offenders.length).toBeGreaterThan(100);
  expect(offenders).toEqual(report.offenders.slice(0, offenders.length));
  expect(change?.worst).toEqual(report.change?.worst.slice(0, change?.worst.length));
  expect(notes).toEqual([
    `This page has room for ${change?.worst.length} of 20,000 clients that the policies treat differently, ${offenders.length} of 20,000 refused clients: --json has all.`,
    "a note",
  ]);
  expect({ falsePositives, input }).toEqual({ falsePositives: report.falsePositives, input: report.input });
});

it.each([
  ["what is escaped", "<".repeat(256)],
  ["two bytes a character", "é".repeat(256)],
  ["control characters", "\u0001".repeat(256)],
])("user agents of %s count as long as they are written", (_, agent) => {
  const text = pageJson(reportOf(20_000, agent), mostBytes);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostBytes);
  expect(Buffer.byteLength(text)).toBeGreaterThan(mostBytes * 0.9);
  expect(text).not.toContain("<");
});

it("ten thousand logs leave room for clients", () => {
  const text = pageJson(reportOf(20_000, "curl/8", 10_000), mostBytes);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostBytes);
  const { offenders, input, notes } = JSON.parse(text) as ReplayReport;
  expect(offenders.length).toBeGreaterThan(50);
  expect(input.files.length).toBeGreaterThan(50);
  expect(notes[0]).toContain(`${input.files.length} of 10,000 logs`);
});
