import { describe, expect, test } from "vitest";
import { arrivals } from "./arrivals.js";
import { limitOfText, limitWords, withSettings } from "./limit-spec.js";
import { readyScenarios } from "./ready-scenarios.js";
import { runScenario, soFar } from "./run-scenario.js";
import type { Phase, Scenario } from "./scenario.js";

const client = (...phases: Phase[]) => ({ name: "client", phases });
const scenario = (more: Partial<Scenario>): Scenario => ({
  name: "test",
  title: "test",
  about: "",
  seconds: 10,
  clients: [client({ from: 0, to: 10, rate: 1 })],
  limits: [{ limit: { fixedWindow: { limit: 5, window: "10s" } } }],
  ...more,
});

describe("a client", () => {
  test("that is steady calls at its rate from the beginning of a phase until before its end", () => {
    expect(arrivals(client({ from: 2, to: 4, rate: 2 }, { from: 4, to: 5, rate: 1 }))).toEqual([
      2, 2.5, 3, 3.5, 4,
    ]);
    expect(arrivals(client({ from: 0, to: 150, rate: 5 / 3 }))).toHaveLength(250);
    expect(arrivals(client({ from: 0, to: 10, rate: 0 }))).toEqual([]);
  });

  test("that bursts and waits keeps its rate on average", () => {
    const phase = { from: 1, to: 21, rate: 0.5, pattern: "burst-and-wait", burst: 5 } as const;
    expect(arrivals(client(phase))).toEqual([1, 1, 1, 1, 1, 11, 11, 11, 11, 11]);
    expect(arrivals(client({ ...phase, to: 11, burstSeconds: 1 }))).toEqual([1, 1.2, 1.4, 1.6, 1.8]);
  });

  test("of chance calls the same with the same seed, otherwise with another, and keeps its rate on average", () => {
    const phases: Phase[] = [{ from: 0, to: 1000, rate: 5, pattern: "poisson" }];
    const calls = arrivals({ name: "a", phases, seed: 3 });
    expect(arrivals({ name: "b", phases, seed: 3 })).toEqual(calls);
    expect(arrivals({ name: "a", phases, seed: 4 })).not.toEqual(calls);
    expect(calls.length).toBeGreaterThan(4700);
    expect(calls.length).toBeLessThan(5300);
    expect(calls).toEqual(calls.toSorted((a, b) => a - b));
  });
});

describe("a run", () => {
  test("tells of each client what it sent, what passed, and when it was refused", () => {
    const { limits } = runScenario(scenario({}));
    expect(limits[0]).toMatchObject({ name: "Fixed window, 5 per 10 s", kind: "fixed-window" });
    expect(limits[0]?.clients[0]).toMatchObject({ sent: 10, passed: 5, firstRefusedAt: 5, lastRefusedAt: 9 });
    expect(limits[0]?.clients[0]).not.toHaveProperty("estimates");
  });

  test("judges each client by itself, many alike too, unless a limit is shared", () => {
    const run = runScenario(
      scenario({
        clients: [{ name: "many", count: 3, phases: [{ from: 0, to: 10, rate: 0.5 }] }],
        limits: [
          { limit: { fixedWindow: { limit: 5, window: "10s" } } },
          { limit: { fixedWindow: { limit: 5, window: "10s" } }, isShared: true },
        ],
      }),
    );
    expect(run.limits.map(({ clients }) => clients[0])).toMatchObject([
      { sent: 15, passed: 15 },
      { sent: 15, passed: 5 },
    ]);
    expect(run.limits[1]?.name).toBe("Fixed window, 5 per 10 s, all together");
  });

  test("is the same every time", () => {
    expect(runScenario(readyScenarios.botnet())).toEqual(runScenario(readyScenarios.botnet()));
  });

  test("so far: what was sent and let in, step by step", () => {
    const run = runScenario(scenario({})).limits[0]?.clients[0];
    const { sent, passed } = soFar(run as NonNullable<typeof run>, 10, 5);
    expect([sent, passed]).toEqual([
      [
        [0, 1],
        [5, 6],
        [10, 10],
      ],
      [
        [0, 1],
        [5, 5],
        [10, 5],
      ],
    ]);
  });

  test.each<[Partial<Scenario>, string]>([
    [{ clients: [] }, "clients: there are none"],
    [{ limits: [] }, "limits: there are none"],
    [{ seconds: Number.NaN }, "seconds: NaN"],
    [{ clients: [client({ from: 0, to: 10, rate: -1 })] }, "clients[0].phases[0].rate: -1"],
    [{ clients: [client({ from: 5, to: 5, rate: 1 })] }, "clients[0].phases[0].to: 5 is not after"],
    [
      { clients: [client({ from: 0, to: 5, rate: 1, pattern: "burst-and-wait" })] },
      "phases[0].burst: undefined",
    ],
    [{ clients: [client({ from: 0, to: 5, rate: 1, burst: 3 })] }, "only burst-and-wait"],
    [{ clients: [{ ...client(), count: 0.5 }] }, "clients[0].count: 0.5"],
    [{ clients: [client({ from: 0, to: 1e6, rate: 1e5 })] }, "about 100000000000 calls"],
    [{ limits: [{ limit: { earrrl: { rate: 0, halfLife: "10s" } } }] }, "earrrl.rate: 0 is not a rate"],
  ])("refuses %j and says why", (more, why) => {
    expect(() => runScenario(scenario(more))).toThrow(why);
  });
});

describe("a limit", () => {
  test.each([
    ["10 per 10s", "Fixed window, 10 per 10 s"],
    ["fixed-window", "Fixed window, 20 per 10 s"],
    ["sliding-log 100 per 1m", "Sliding log, 100 per 60 s"],
    ["sliding-counter 5/second", "Sliding counter, 5 per 1 s"],
    ["token-bucket 10 per 5s", "Token bucket, 10 per 5 s, burst 10"],
    ["earrrl", "EARRRL, 2 per second, half-life 30 s"],
    ["earrrl 30 per minute", "EARRRL, 0.5 per second, half-life 30 s"],
  ])("of the text %j is %j", (text, words) => {
    expect(limitWords(limitOfText(text, { rate: 2, halfLife: "30s" }))).toBe(words);
  });

  test.each(["leaky", "fixed-window ten per 10s", "earrrl 1"])("of the text %j is refused", (text) => {
    expect(() => limitOfText(text)).toThrow(/TG_(?:SCENARIO|RATE)/);
  });

  test("of another rate keeps its window", () => {
    const words = (text: string) =>
      limitWords(withSettings(limitOfText(text), { rate: 3, halfLife: "5s", overage: 0.5 }));
    expect(words("sliding-log 10 per 20s")).toBe("Sliding log, 60 per 20 s");
    expect(words("token-bucket 10 per 20s")).toBe("Token bucket, 3 per 1 s, burst 10");
    expect(words("earrrl")).toBe("EARRRL, 3 per second, half-life 5 s, overage 0.5");
  });
});
