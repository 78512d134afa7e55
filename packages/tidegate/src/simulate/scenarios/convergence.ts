import { type Duration, parseDuration } from "../../duration.js";
import type { LimitSettings } from "./limit-spec.js";
import type { Scenario } from "./scenario.js";

const from = 50;
const to = 200;

/** How fast EARRRL's estimate finds a client's rate. */
export function convergence({ halfLife, rate: given, overage = 1 }: LimitSettings = {}): Scenario {
  const halfLives = halfLife === undefined ? (["10s", "1s"] as const) : [halfLife];
  const [first] = halfLives;
  const after = parseDuration(first as Duration, "halfLife") / 1000;
  return {
    name: "convergence",
    title: "EARRRL follows three clients",
    about: `Clients sending 10, 1 and 0.1 calls a second from t = ${from} s to t = ${to} s; the estimate of each, on a logarithmic axis.`,
    seconds: 260,
    plot: "estimates",
    readAt: [60, 70, 110, 200, 210],
    clients: [10, 1, 0.1].map((perSecond) => ({
      name: `${perSecond} per second`,
      phases: [{ from, to, rate: perSecond }],
    })),
    limits: halfLives.map((each) => ({
      // Unless one is given, no rate is ever reached: this is about the estimate alone.
      ...(given === undefined && { name: `EARRRL, half-life ${parseDuration(each, "halfLife") / 1000} s` }),
      limit: { earrrl: { rate: given ?? 1e6, halfLife: each, overage } },
    })),
    ...(halfLives.length === 1 && {
      marks: [
        { at: from + after, label: "half the rate after one half-life" },
        { at: to + after, label: "half again" },
      ],
    }),
  };
}
