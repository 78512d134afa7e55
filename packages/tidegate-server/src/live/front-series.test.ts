import { createGate, type Gate } from "tidegate";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openFrontSeries } from "./front-series.js";
import { sumClients, sumSeries } from "./sum-series.js";

const start = Date.UTC(2026, 0, 31, 12);

beforeEach(() => void vi.useFakeTimers({ now: start, toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

function open() {
  const gate = createGate({
    rules: [
      { name: "req/ip", by: "ip", limits: "3 per hour" },
      { name: "tried", by: "ip", limits: "1 per hour", mode: "shadow" },
    ],
    onWarning: () => {},
  });
  const series = openFrontSeries(gate);
  onTestFinished(async () => {
    series.close();
    await gate.close();
  });
  return { gate, series };
}

async function visit(gate: Gate, ip: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await gate.decide({ ip, method: "GET", host: "h", path: "/", header: () => undefined });
}

const sum = (row: readonly number[] = []) => row.reduce((one, other) => one + other, 0);

describe("what a front decided lately", () => {
  it("stands under the second it was decided in, by rule and in all", async () => {
    const { gate, series } = open();
    await visit(gate, "203.0.113.7", 2);
    vi.advanceTimersByTime(1000);
    await visit(gate, "203.0.113.7", 3);
    vi.advanceTimersByTime(2000);
    expect(series.read(4)).toEqual({
      from: start - 1000,
      stepMs: 1000,
      since: start,
      totals: { allowed: [0, 2, 1, 0], refused: [0, 0, 2, 0], shadow: [0, 1, 3, 0] },
      rules: {
        "req/ip": { judged: [0, 2, 3, 0], refused: [0, 0, 2, 0], shadow: [0, 0, 0, 0], held: [0, 0, 0, 0] },
        tried: { judged: [0, 2, 3, 0], refused: [0, 0, 0, 0], shadow: [0, 1, 3, 0], held: [0, 0, 0, 0] },
      },
    });
  });

  it("is forgotten after ten minutes", async () => {
    const { gate, series } = open();
    await visit(gate, "203.0.113.7", 2);
    vi.advanceTimersByTime(1000);
    expect(sum(series.read(600).totals.allowed)).toBe(2);
    vi.advanceTimersByTime(599_000);
    expect(sum(series.read(600).totals.allowed)).toBe(2);
    vi.advanceTimersByTime(1000);
    expect(series.read(600)).toMatchObject({ rules: {} });
    expect(sum(series.read(600).totals.allowed)).toBe(0);
  });

  it("is told of each busy client exactly, though what makes it busy fades", async () => {
    const { gate, series } = open();
    for (let second = 0; second < 120; second++) {
      await visit(gate, "203.0.113.7", 5);
      if (second % 10 === 0) await visit(gate, "2001:db8::1", 1);
      vi.advanceTimersByTime(1000);
    }
    const client = series.client("203.0.113.7");
    expect(client).toMatchObject({ key: "203.0.113.7", from: start - 180_000, stepMs: 1000 });
    expect(client?.requests.slice(-120)).toEqual(new Array(120).fill(5));
    expect(client?.refused.slice(-121, -118)).toEqual([0, 2, 5]);
    expect(sum(client?.requests)).toBe(600);
    expect(sum(series.client("2001:db8::/64")?.requests)).toBe(12);
    expect(series.client("203.0.113.8")).toBeUndefined();
  });

  it("follows only so many clients, and those who come to be the busiest among a crowd", async () => {
    const { gate, series } = open();
    const crowd = Array.from({ length: 300 }, (_, i) => `198.51.${100 + (i >> 8)}.${i & 255}`);
    for (const ip of crowd) await visit(gate, ip, 3);
    vi.advanceTimersByTime(1000);
    expect(crowd.filter((ip) => series.client(ip) !== undefined)).toHaveLength(100);
    for (let second = 0; second < 5; second++) {
      await visit(gate, "203.0.113.7", 20);
      vi.advanceTimersByTime(1000);
    }
    expect(series.client("203.0.113.7")?.requests.slice(-4)).toEqual([20, 20, 20, 20]);
    expect(crowd.filter((ip) => series.client(ip) !== undefined).length).toBeLessThanOrEqual(200);
  });
});

describe("several fronts", () => {
  it("are added up second by second, wherever each of them begins", async () => {
    const one = open();
    const other = open();
    await visit(one.gate, "203.0.113.7", 2);
    await visit(other.gate, "203.0.113.7", 1);
    vi.advanceTimersByTime(1000);
    await visit(other.gate, "203.0.113.7", 4);
    vi.advanceTimersByTime(1000);
    const { totals, rules } = sumSeries([one.series.read(2), other.series.read(3)], 3);
    expect(totals).toMatchObject({ allowed: [0, 3, 2], refused: [0, 0, 2] });
    expect(rules["req/ip"]).toMatchObject({ judged: [0, 3, 4] });
    const parts = [one, other].flatMap(({ series }) => series.client("203.0.113.7") ?? []);
    expect(sumClients(parts)?.requests.slice(-2)).toEqual([3, 4]);
    expect(sumClients([])).toBeUndefined();
  });

  it("are told of up to the last second all have closed, but one that hangs holds nobody up", () => {
    const series = (from: number, allowed: number[]) => ({
      from,
      stepMs: 1000 as const,
      since: start,
      totals: { allowed, refused: [], shadow: [] },
      rules: {},
    });
    vi.setSystemTime(start + 10_000);
    const behind = sumSeries([series(start + 5000, [1, 1, 1, 1, 1]), series(start + 5000, [2, 2, 2, 2])], 3);
    expect(behind).toMatchObject({ from: start + 6000, totals: { allowed: [3, 3, 3] } });
    const hung = sumSeries([series(start + 5000, [1, 1, 1, 1, 1]), series(start, [2])], 3);
    expect(hung).toMatchObject({ from: start + 4000, totals: { allowed: [0, 1, 1] } });
  });

  it("that tell nothing are nothing", () => {
    expect(sumSeries([], 2)).toMatchObject({
      from: start - 2000,
      totals: { allowed: [0, 0], refused: [0, 0], shadow: [0, 0] },
      rules: {},
    });
  });
});
