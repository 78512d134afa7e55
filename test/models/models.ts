import {
  concurrency,
  earrrl,
  fixedWindow,
  type Limit,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from "tidegate";

/** What an algorithm's documentation promises, in a form that can be checked. */
export interface Model {
  readonly name: string;
  readonly limit: (n: number) => Limit;
  /** The most that passes in any stretch (t - lengthMs, t], however it is asked. */
  readonly most: (lengthMs: number, n: number) => number;
  /** Lengths that matter. */
  readonly stretchesMs: readonly number[];
  /** Calls this far apart, or farther, are never refused. */
  readonly patientMs: (n: number) => number;
  /** Costs other than 1, if it takes them. */
  readonly costs: readonly number[];
  /** Refused calls weigh something, on purpose. */
  readonly countsRefused?: true;
}

const windowMs = 1000;
const lambdaMs = Math.LN2 / 2000;
const whole = [1, 2, 3, 7];
const broken = [...whole, 0.5, 0.1];

/** A new algorithm is held to its word by its entry here. */
export const models: readonly Model[] = [
  {
    name: "fixedWindow by the epoch",
    limit: (n) => fixedWindow({ limit: n, window: windowMs }),
    most: (_, n) => 2 * n,
    stretchesMs: [2, windowMs],
    patientMs: (n) => windowMs / n,
    costs: broken,
  },
  {
    name: "fixedWindow from the first hit",
    limit: (n) => fixedWindow({ limit: n, window: windowMs, align: "first-hit" }),
    most: (_, n) => 2 * n - 1,
    stretchesMs: [2, windowMs],
    patientMs: (n) => windowMs / n,
    costs: whole,
  },
  {
    name: "fixedWindow that counts refusals",
    limit: (n) => fixedWindow({ limit: n, window: windowMs, countRefused: true }),
    most: (_, n) => 2 * n,
    stretchesMs: [2, windowMs],
    patientMs: (n) => windowMs / n,
    costs: broken,
    countsRefused: true,
  },
  {
    name: "slidingCounter",
    limit: (n) => slidingCounter({ limit: n, window: windowMs }),
    most: (lengthMs, n) => n * (1 + lengthMs / windowMs),
    stretchesMs: [1, 100, 500, windowMs],
    patientMs: (n) => (n === 1 ? 2 * windowMs : windowMs / (n - 1)),
    costs: broken,
  },
  {
    name: "slidingLog",
    limit: (n) => slidingLog({ limit: n, window: windowMs }),
    most: (_, n) => n,
    stretchesMs: [windowMs],
    patientMs: (n) => windowMs / n,
    costs: broken,
  },
  {
    name: "slidingLog as a list",
    limit: (n) => slidingLog({ limit: n, window: windowMs, encoding: "list" }),
    most: (_, n) => n,
    stretchesMs: [windowMs],
    patientMs: (n) => windowMs / n,
    costs: [1],
  },
  {
    name: "tokenBucket",
    limit: (n) => tokenBucket({ rate: "4 per second", burst: n }),
    most: (lengthMs, n) => n + (4 * lengthMs) / 1000,
    stretchesMs: [1, 250, 1000, 5000],
    patientMs: () => 250,
    costs: broken,
  },
  {
    name: "earrrl",
    limit: (n) => earrrl({ rate: n, halfLife: "2s" }),
    most: (lengthMs, n) => (n / 1000 + lambdaMs) * (lengthMs + 1 / lambdaMs),
    stretchesMs: [1, 250, 1000, 5000],
    patientMs: (n) => 1000 / n,
    costs: [1],
    countsRefused: true,
  },
  {
    name: "earrrl without overage",
    limit: (n) => earrrl({ rate: n, halfLife: "2s", overage: 0 }),
    most: (lengthMs, n) => (n / 1000 + lambdaMs) * (lengthMs + 1 / lambdaMs),
    stretchesMs: [1, 250, 1000, 5000],
    patientMs: (n) => 1000 / n,
    costs: [1],
  },
  {
    name: "concurrency, when nobody releases",
    limit: (n) => concurrency({ limit: n, leaseFor: windowMs }),
    most: (_, n) => n,
    stretchesMs: [windowMs],
    patientMs: (n) => windowMs / n,
    costs: whole,
  },
];
