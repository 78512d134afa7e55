import type { LimitSettings } from "./limit-spec.js";
import type { Scenario } from "./scenario.js";

/** Who knows the limit and sends in bursts, to get more than others or to hit harder. */
export function gaming({ rate = 1, halfLife = "20s", overage = 1 }: LimitSettings = {}): Scenario {
  const inWindow = Math.max(1, Math.round(rate * 10));
  const windowed = { limit: inWindow, window: "10s" } as const;
  const bursts = (burst: number, times: number) =>
    ({ pattern: "burst-and-wait", burst, rate: rate * times, burstSeconds: 1 }) as const;
  return {
    name: "gaming",
    title: "Burst and wait",
    about:
      "Clients that send in bursts: two windows' worth across the edge of a window, a minute's worth at once, and twice what the limit allows.",
    seconds: 300,
    plot: "calls-by-limit",
    clients: [
      { name: "across the window's edge", phases: [{ from: 9.5, to: 300, ...bursts(2 * inWindow, 1) }] },
      { name: "a minute's worth at once", phases: [{ from: 0, to: 300, ...bursts(6 * inWindow, 1) }] },
      { name: "twice the limit", phases: [{ from: 0, to: 300, ...bursts(2 * inWindow, 2) }] },
    ],
    limits: [
      { limit: { fixedWindow: windowed } },
      { limit: { slidingLog: windowed } },
      { limit: { tokenBucket: { rate, per: "1s", burst: inWindow } } },
      { limit: { earrrl: { rate, halfLife, overage } } },
    ],
  };
}
