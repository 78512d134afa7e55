import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ClientRun, type Point, readyScenarios, runScenario, steadyEstimate } from "tidegate/simulate";
import { describe, expect, it } from "vitest";
import { drawFigures, figures } from "../../scripts/figures.js";
import { temporaryFolder } from "../server/running.js";

interface Converging {
  readonly perSecond: number;
  readonly estimates: readonly Point[];
  readonly readings: readonly Point[];
}

const from = 50;
const to = 200;

/** The three clients of the figure, each with its rate. */
function convergence(halfLifeSeconds: number): Converging[] {
  const scenario = readyScenarios.convergence({ halfLife: halfLifeSeconds * 1000 });
  expect(scenario.clients.map(({ phases }) => phases)).toEqual([
    [{ from, to, rate: 10 }],
    [{ from, to, rate: 1 }],
    [{ from, to, rate: 0.1 }],
  ]);
  const run = runScenario({
    ...scenario,
    readAt: [60, 70, 110, 200, 210, from + halfLifeSeconds, to + halfLifeSeconds],
  });
  return (run.limits[0]?.clients ?? []).map(({ estimates = [], readings = [] }, i) => ({
    perSecond: scenario.clients[i]?.phases[0]?.rate as number,
    estimates,
    readings,
  }));
}

/** What the estimate of a client reads at a time, before the call of that instant if there is one. */
function readAt({ readings }: Converging, seconds: number): number {
  return (readings.find(([at]) => at === seconds) as Point)[1];
}

const reformsAt = 150;

/** The client of the figure under each limit, by algorithm. */
function reform(): Readonly<Record<string, ClientRun>> {
  const { limits } = runScenario(readyScenarios.reform());
  return Object.fromEntries(limits.map(({ kind, clients }) => [kind, clients[0] as ClientRun]));
}

describe.each([10, 1])("the figure of convergence at a half-life of %s s", (halfLife) => {
  const lambda = Math.LN2 / halfLife;

  it("E12: agrees with the closed form at t = 60, 70, 110, 200 and 210", () => {
    for (const client of convergence(halfLife)) {
      const { perSecond } = client;
      for (const seconds of [60, 70, 110, 200, 210]) {
        const closed = steadyEstimate({ perSecond, halfLife, from, to }, seconds);
        // Hits faded to a millionth of one are forgotten.
        expect(Math.abs(readAt(client, seconds) - closed)).toBeLessThan(1e-6 * lambda + 1e-9);
      }
    }
  });

  it("E13: is at half the rate after one half-life, at the rate within a minute, and halves again after the end", () => {
    for (const client of convergence(halfLife)) {
      const { perSecond } = client;
      // Between two calls the estimate swings by lambda.
      if (perSecond * halfLife >= 1) {
        const half = readAt(client, from + halfLife);
        expect(Math.abs(half - perSecond / 2)).toBeLessThanOrEqual(lambda);
      }
      const later = client.estimates.filter(([at]) => at >= from + 60 && at < to);
      for (const [, estimate] of later)
        expect(Math.abs(estimate - perSecond)).toBeLessThanOrEqual(lambda + perSecond / 64);
      expect(readAt(client, to + halfLife)).toBeCloseTo(readAt(client, to) / 2, 9);
    }
  });

  it("E14: swings in a band lambda wide, so the shorter the half-life the larger the error", () => {
    for (const { perSecond, estimates } of convergence(halfLife)) {
      const steady = estimates.filter(([at]) => at >= 190 && at < to).map(([, estimate]) => estimate);
      expect(Math.max(...steady) - Math.min(...steady)).toBeCloseTo(lambda, 2);
      expect(Math.min(...steady)).toBeLessThan(perSecond);
      expect(Math.max(...steady)).toBeGreaterThan(perSecond);
    }
  });
});

describe("the figure of reform", () => {
  const pattern = ({ calls }: ClientRun) => calls.map(({ allowed }) => (allowed ? "+" : "-")).join("");

  it("E16: the fixed window lets ten in every ten seconds while the client floods, and refuses none from t = 160 on", () => {
    const { calls } = reform()["fixed-window"] as ClientRun;
    const flooding = calls.filter(({ at }) => at < reformsAt);
    expect(flooding).toHaveLength(250);
    expect(flooding.filter(({ allowed }) => allowed)).toHaveLength(150);
    for (let begin = 0; begin < reformsAt; begin += 10) {
      const inWindow = flooding.filter(({ at }) => at >= begin && at < begin + 10);
      expect(inWindow.filter(({ allowed }) => allowed)).toHaveLength(10);
    }
    expect(calls.filter(({ at, allowed }) => at >= 160 && !allowed)).toEqual([]);
  });

  it("E16: no limit but EARRRL locks out who is over it: each lets in about the rate all along", () => {
    const { earrrl: _, ...others } = reform();
    expect(Object.keys(others)).toEqual(["fixed-window", "sliding-log", "sliding-counter", "token-bucket"]);
    for (const { calls } of Object.values(others))
      for (let begin = 20; begin < reformsAt; begin += 20) {
        const passed = calls.filter(({ at, allowed }) => at >= begin && at < begin + 20 && allowed);
        expect(passed.length).toBeGreaterThanOrEqual(17);
        expect(passed.length).toBeLessThanOrEqual(21);
      }
  });

  it("E17: EARRRL gives a longer grace, then lets none in at all, then, some time after the reform, all", () => {
    const { earrrl: estimated, "fixed-window": windowed } = reform() as Record<string, ClientRun> & {
      earrrl: ClientRun;
      "fixed-window": ClientRun;
    };
    expect(pattern(estimated)).toMatch(/^\+{40,}-{250,}\+{100,}$/);
    expect(pattern(estimated).indexOf("-")).toBeGreaterThan(pattern(windowed).indexOf("-"));
    expect(estimated.firstRefusedAt).toBeCloseTo(27, 0);
    expect(estimated.lastRefusedAt).toBeGreaterThan(reformsAt + 80);
    expect(estimated.lastRefusedAt).toBeLessThan(reformsAt + 120);
  });
});

it("E31: the figure of overage: the smaller the weight, the sooner the client resumes, and the more passes", () => {
  const { limits } = runScenario(readyScenarios.overage());
  expect(limits.map(({ name }) => name)).toEqual(
    [1, 0.75, 0.5, 0.25, 0].map((weight) => `overage ${weight}`),
  );
  const reformed = limits.map(({ clients }) => clients[0] as ClientRun);
  for (const [i, { passed, lastRefusedAt }] of reformed.entries()) {
    if (i === 0) continue;
    expect(passed).toBeGreaterThan(reformed[i - 1]?.passed as number);
    expect(lastRefusedAt).toBeLessThanOrEqual(reformed[i - 1]?.lastRefusedAt as number);
  }
  // E32: far over, half a weight and more lock out for ever.
  const flooding = limits.map(({ clients }) => clients[1] as ClientRun);
  const late = flooding.map(({ calls }) => calls.filter(({ at, allowed }) => at > 100 && allowed).length);
  expect(late.map((passed) => passed > 0)).toEqual([false, false, false, true, true]);
});

describe("the figure of gaming", () => {
  it("a burst across the edge of a fixed window gets twice the limit within a second, of a sliding log never more than the limit", () => {
    const { limits } = runScenario(readyScenarios.gaming());
    const passed = Object.fromEntries(
      limits.map(({ kind, clients }) => [kind, clients.map((each) => each.passed)]),
    );
    expect(passed["fixed-window"]?.[0]).toBe(300);
    expect(passed["sliding-log"]?.[0]).toBe(150);
    // Twice the limit for ever: half passes elsewhere, under EARRRL only its grace.
    expect(passed["token-bucket"]?.[2]).toBeGreaterThanOrEqual(300);
    expect(passed.earrrl?.[2]).toBeLessThan(60);
  });
});

describe("the figure of the botnet", () => {
  it("who stays under the limit passes, a bot that goes over it is locked out, and the ordinary user notices neither, unless all are counted as one", () => {
    const { limits } = runScenario(readyScenarios.botnet());
    const [each, together] = limits.map(({ clients }) => clients) as [ClientRun[], ClientRun[]];
    const [bots, user] = each as [ClientRun, ClientRun];
    const shareOf = (calls: ClientRun["calls"]) =>
      calls.filter(({ allowed }) => allowed).length / calls.length;
    expect(shareOf(bots.calls.filter(({ at }) => at < 150))).toBeGreaterThan(0.85);
    expect(shareOf(bots.calls.filter(({ at }) => at > 200))).toBeLessThan(0.02);
    expect(user.passed).toBe(user.sent);
    expect((together[1] as ClientRun).passed).toBeLessThan(user.sent / 2);
  });
});

it("the figures in docs are what the command draws", async () => {
  const folder = temporaryFolder();
  await drawFigures(folder);
  const docs = new URL("../../docs/figures/", import.meta.url);
  for (const name of Object.keys(figures)) {
    const kept = readFileSync(new URL(name, docs), "utf8");
    expect(kept === readFileSync(join(folder, name), "utf8"), `${name}: run npm run figures`).toBe(true);
  }
  expect(
    readdirSync(docs)
      .filter((name) => name.endsWith(".svg"))
      .sort(),
  ).toEqual(Object.keys(figures).sort());
});
