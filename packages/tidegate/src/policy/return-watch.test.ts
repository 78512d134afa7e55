import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createGate, type Gate, memoryStore } from "../index.js";
import { subjectOf } from "../testing/subject.js";

let gate: Gate;
beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  await gate.close();
  vi.useRealTimers();
});

const client = subjectOf("203.0.113.7");

/** A gate on a store that can be out of order; with the keys it was asked to count by. */
function opened(): { keys: string[]; told: string[]; fail(isOut: boolean): void } {
  const store = memoryStore();
  const decide = store.decide.bind(store);
  const keys: string[] = [];
  let isOut = false;
  store.decide = (checks, terms) => {
    keys.push(...checks.map(({ key }) => key));
    if (isOut) throw new Error("it takes nothing");
    return decide(checks, terms);
  };
  gate = createGate({
    store,
    rules: [{ name: "req/ip", by: "ip", limits: ["5 per hour"] }],
    breaker: { failures: 2 },
    onWarning: () => {},
  });
  const told: string[] = [];
  gate.on("degraded", () => told.push("degraded"));
  gate.on("recovered", () => told.push("recovered"));
  const fail = (is: boolean): void => {
    isOut = is;
  };
  return { keys, told, fail };
}

async function outage(): Promise<void> {
  for (let i = 0; i < 3; i++) await gate.decide(client);
  expect(gate.metrics().degraded).toBe(true);
}

it("a store that is back is known to be back within two seconds, though no request comes, and nobody is charged", async () => {
  const { keys, told, fail } = opened();
  fail(true);
  await outage();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(gate.metrics()).toMatchObject({ degraded: true, decisions: 3 });
  fail(false);
  await vi.advanceTimersByTimeAsync(2000);
  expect(gate.metrics()).toMatchObject({ degraded: false, decisions: 3 });
  expect(told).toEqual(["degraded", "recovered"]);
  expect(new Set(keys.slice(2))).toEqual(new Set(["is-it-back"]));
  expect((await gate.explain(client)).verdict).toMatchObject({ remaining: 5 });
});

it("a store that answers and can not count is not back", async () => {
  const { fail } = opened();
  fail(true);
  await outage();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(gate.metrics().degraded).toBe(true);
});

it("costs about a call a second while the store is out, and nothing before, afterwards or once the gate is closed", async () => {
  const { keys, fail } = opened();
  const callsIn = async (ms: number): Promise<number> => {
    const before = keys.length;
    await vi.advanceTimersByTimeAsync(ms);
    return keys.length - before;
  };
  expect(await callsIn(10_000)).toBe(0);
  fail(true);
  await outage();
  const calls = await callsIn(20_000);
  expect(calls).toBeGreaterThan(12);
  expect(calls).toBeLessThanOrEqual(20);
  fail(false);
  await callsIn(2000);
  expect(await callsIn(10_000)).toBe(0);
  fail(true);
  await outage();
  await gate.close();
  expect(await callsIn(10_000)).toBe(0);
});
