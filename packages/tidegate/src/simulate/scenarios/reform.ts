import type { LimitSettings } from "./limit-spec.js";
import type { Scenario } from "./scenario.js";

/** When the client mends its ways. */
const reformsAt = 150;
const seconds = 400;

/** A client 67 % over the limit, then exactly at it: EARRRL beside everybody else. */
export function reform({ rate = 1, halfLife = "20s", overage = 1 }: LimitSettings = {}): Scenario {
  const windowed = { limit: Math.max(1, Math.round(rate * 10)), window: "10s" } as const;
  return {
    name: "reform",
    title: `A client 67 % over the limit mends its ways at t = ${reformsAt} s`,
    about: "Calls sent and calls let in, under EARRRL and under the usual limits, all of the same rate.",
    seconds,
    plot: "calls-by-limit",
    clients: [{ name: "client", phases: reformingPhases(rate) }],
    limits: [
      { limit: { fixedWindow: windowed } },
      { limit: { earrrl: { rate, halfLife, overage } } },
      { limit: { slidingLog: windowed } },
      { limit: { slidingCounter: windowed } },
      { limit: { tokenBucket: { rate, per: "1s", burst: windowed.limit } } },
    ],
    marks: [{ at: reformsAt, label: "the client reforms", side: "left" }],
  };
}

export function reformingPhases(rate: number): Scenario["clients"][number]["phases"] {
  return [
    { from: 0, to: reformsAt, rate: (rate * 5) / 3 },
    { from: reformsAt, to: seconds, rate },
  ];
}
