import type { LimitSettings } from "./limit-spec.js";
import { reformingPhases } from "./reform.js";
import type { Scenario } from "./scenario.js";

/** What a refused call weighs: how soon a client that reforms is back, and who never is. */
export function overage({ rate = 1, halfLife = "20s", overage: only }: LimitSettings = {}): Scenario {
  const weights = only === undefined ? [1, 0.75, 0.5, 0.25, 0] : [only];
  return {
    name: "overage",
    title: "The less a refused call weighs, the sooner a client is back",
    about:
      "Calls let in under EARRRL with several overage weights: of a client 67 % over the limit that reforms at t = 150 s, and of one that sends three times the limit throughout.",
    seconds: 400,
    plot: "calls-by-client",
    clients: [
      { name: "67 % over, then at the limit", phases: reformingPhases(rate) },
      { name: "three times the limit", phases: [{ from: 0, to: 400, rate: rate * 3 }] },
    ],
    limits: weights.map((weight) => ({
      name: `overage ${weight}`,
      limit: { earrrl: { rate, halfLife, overage: weight } },
    })),
  };
}
