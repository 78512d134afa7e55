import { createGate } from "tidegate";
import { describe, expect, it } from "vitest";
import { stateOfAll } from "./state-of-all.js";

async function worker(requests: number, notReady: string[] = []) {
  const gate = createGate({
    rules: [{ name: "a", by: "ip", limits: "1 per hour" }],
    blocklist: ["192.0.2.1"],
  });
  for (let i = 0; i < requests; i++)
    await gate.decide({ ip: "203.0.113.7", method: "GET", host: "", path: "/", header: () => undefined });
  const state = { notReady, metrics: gate.metrics(), busiest: gate.busiest(10) };
  await gate.close();
  return state;
}

describe("all workers together", () => {
  it("have counted what each of them has, and share their lists", async () => {
    const { metrics, notReady, busiest } = stateOfAll([await worker(2), await worker(3)], 2, 10);
    expect(notReady).toEqual([]);
    expect(metrics).toMatchObject({
      decisions: 5,
      allowed: 2,
      refused: 3,
      byReason: { "over-limit": 3, "within-limits": 2 },
      byRule: { a: { judged: 5, refused: 3 } },
      blocklistEntries: (await worker(0)).metrics.blocklistEntries,
    });
    expect(busiest).toHaveLength(1);
    expect(busiest[0]?.count).toBeCloseTo(5, 1);
  });

  it("are degraded when one is, and not ready when one does not answer or says so", async () => {
    const well = await worker(0);
    const ill = { ...well, metrics: { ...well.metrics, degraded: true }, notReady: ["why"] };
    const { metrics, notReady } = stateOfAll([well, ill, ill, undefined], 4, 0);
    expect(metrics.degraded).toBe(true);
    expect(notReady).toEqual(["1 of 4 workers can not take requests.", "why"]);
  });

  it("are nothing when there is none", () => {
    expect(stateOfAll([], 2, 10)).toMatchObject({ metrics: { decisions: 0, degraded: false }, busiest: [] });
  });
});
