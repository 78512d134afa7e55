import type { RehearsalReport } from "tidegate/simulate";

export interface SampleOptions {
  readonly rules?: number;
  readonly clients?: number;
  readonly points?: number;
  /** What others wrote, wherever they could. */
  readonly text?: (field: string) => string;
}

const from = Date.UTC(2026, 0, 31, 12);

/** A report of so many rules, clients and points as are asked for, every field filled in. */
export function sampleReport(options: SampleOptions = {}): RehearsalReport {
  const { rules = 3, clients = 12, points = 120, text = (field) => field } = options;
  const many = <T>(count: number, make: (i: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i));
  const names = many(rules, (i) => `rule ${i} ${text("rule")}`.slice(0, 64));
  const client = (i: number) => ({
    client: `${text("client")} 203.0.113.${i}`,
    address: `203.0.113.${i}`,
    rule: names[i % names.length] as string,
    userAgent: text("userAgent"),
    requests: 10_000 - i,
    refused: 5_000 - i,
    share: (5_000 - i) / (10_000 - i),
    firstRefusedAt: from + i * 1_000,
    lastRefusedAt: from + i * 2_000,
    longestHoldMs: i % 2 === 0 ? 0 : 60_000 * i,
  });
  const series = many(points, (i) => from + i * 60_000);
  const outcome = {
    allowed: 9_900_000,
    refused: 100_000,
    shadow: 7,
    delayed: 3,
    held: 2,
    refusedClients: 400,
  };
  return {
    requests: 10_000_000,
    from,
    to: from + points * 60_000,
    late: 12,
    clients: 250_000,
    outcome,
    against: { ...outcome, allowed: 9_950_000, refused: 50_000 },
    change: {
      newlyRefused: { requests: 60_000, clients: 12 },
      newlyPassed: { requests: 10_000, clients: 3 },
      worst: many(clients, (i) => ({
        client: `${text("changed")} ${i}`,
        userAgent: text("changed agent"),
        requests: 900 - i,
        newlyRefused: 800 - i,
        newlyPassed: i % 3,
      })),
    },
    series: {
      everyMs: 60_000,
      at: series,
      requests: series.map((_, i) => 1_234_567 + i),
      refused: series.map((_, i) => 123_456 + i),
      refusedAgainst: series.map((_, i) => 65_432 + i),
      refusedBy: Object.fromEntries(names.map((name, n) => [name, series.map((_, i) => 12_345 + i * n)])),
    },
    worstSecond: {
      recorded: { at: from, requests: 900 },
      passed: { at: from + 5_000, requests: 300 },
      passedAgainst: { at: from + 9_000, requests: 700 },
    },
    rules: [
      ...names.map((rule, i) => ({
        rule,
        isShadow: i === 1,
        judged: 1_000_000,
        refused: 1_000,
        clients: 17,
        firstAt: from,
        lastAt: from + 60_000,
      })),
      { rule: "nowhere", isShadow: false, judged: 0, refused: 0, clients: 0, silence: "never-applies" },
      { rule: "generous", isShadow: false, judged: 50, refused: 0, clients: 0, silence: "never-fires" },
    ],
    offenders: many(clients, client),
    falsePositives: many(Math.min(clients, 50), (i) => ({
      ...client(i),
      client: `${text("suspect")} ${i}`,
      why: "browser" as const,
      words: `${text("words")} It calls itself a browser.`,
    })),
    suggestions: names.map((rule) => ({
      rule,
      limit: "100 per minute",
      suggested: "250 per minute",
      refused: 12,
      refusedClients: 2,
      words: `${text("suggestion")} The busiest client of 1,000 needs 160.`,
    })),
    notes: [`${text("note")} Clients are estimated.`],
  };
}
