import type { LimitSettings } from "./limit-spec.js";
import type { Scenario } from "./scenario.js";

const bots = 50;

/** Many clients, each under the limit and then over it, beside one that does nothing wrong. */
export function botnet({ rate = 1, halfLife = "10s", overage = 1 }: LimitSettings = {}): Scenario {
  return {
    name: "botnet",
    title: `${bots} clients under the limit, then over it`,
    about: `${bots} bots send 0.8 of the limit each until t = 150 s and twice the limit from then on, beside an ordinary user. Counted one by one, and all together at a fifth of what the bots send at first.`,
    seconds: 300,
    plot: "calls-by-limit",
    clients: [
      {
        name: `${bots} bots`,
        count: bots,
        seed: 7,
        phases: [
          { from: 0, to: 150, rate: rate * 0.8, pattern: "poisson" },
          { from: 150, to: 300, rate: rate * 2, pattern: "poisson" },
        ],
      },
      {
        name: "an ordinary user",
        seed: 11,
        phases: [{ from: 0, to: 300, rate: rate * 0.2, pattern: "poisson" }],
      },
    ],
    limits: [
      { limit: { earrrl: { rate, halfLife, overage } } },
      { limit: { earrrl: { rate: rate * bots * 0.16, halfLife, overage: 0 } }, isShared: true },
      { limit: { tokenBucket: { rate, per: "1s", burst: Math.max(1, Math.round(rate * 10)) } } },
    ],
  };
}
