import {
  concurrency,
  earrrl,
  fixedWindow,
  type Limit,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from "tidegate";
import { offences } from "../../packages/tidegate/src/algorithms/offences/offences.js";

/** A limit with its number left open, so that a trace can change it. */
export interface Family {
  readonly make: (n: number) => Limit;
  /** `"whole"`: takes whole numbers; `"one"`: only calls of cost 1 without an id. Default `"any"`. */
  readonly takes?: "any" | "whole" | "one";
  readonly leases?: true;
}

/** Every algorithm in every setting that has its own arithmetic. A new one is covered by its line here. */
export const families: readonly Family[] = [
  { make: (n) => fixedWindow({ limit: n, window: "1s" }) },
  { make: (n) => fixedWindow({ limit: n, window: "1m" }) },
  { make: (n) => fixedWindow({ limit: n, window: "1s", countRefused: true }) },
  { make: (n) => fixedWindow({ limit: n, window: "1m", offset: "7s" }) },
  { make: (n) => fixedWindow({ limit: n, window: "1s", align: "first-hit" }) },
  { make: (n) => fixedWindow({ limit: n, window: 7, align: "first-hit", countRefused: true }) },
  { make: (n) => slidingCounter({ limit: n, window: "1s" }) },
  { make: (n) => slidingCounter({ limit: n, window: "1m" }) },
  { make: (n) => tokenBucket({ rate: "3 per second", burst: n }) },
  { make: (n) => tokenBucket({ rate: "10 per minute", burst: n }) },
  { make: (n) => earrrl({ rate: n + 0.7, halfLife: "1s" }) },
  { make: (n) => earrrl({ rate: (n + 1) / 7, halfLife: "10s", overage: 0.5 }) },
  { make: (n) => earrrl({ rate: (n + 1) / 7, halfLife: "10s", overage: 0 }) },
  { make: (n) => ladder(n, 1000) },
  { make: (n) => ladder(n, 60_000) },
];

/** Counts what the limits beside it refuse, and holds. */
function ladder(n: number, withinMs: number): Limit {
  return offences({
    after: Math.max(1, Math.ceil(n)),
    withinMs,
    holdsMs: [333, 2000, 60_000],
    forgetMs: 6000,
  });
}

/** Limits whose state grows with use, which memcached does not keep. */
export const ledgerFamilies: readonly Family[] = [
  { make: (n) => slidingLog({ limit: n, window: "1s" }) },
  { make: (n) => slidingLog({ limit: n, window: "1m" }) },
  { make: (n) => slidingLog({ limit: Math.floor(n), window: "1s", encoding: "list" }), takes: "one" },
  { make: (n) => slidingLog({ limit: Math.floor(n), window: "1m", encoding: "list" }), takes: "one" },
  { make: (n) => concurrency({ limit: Math.floor(n), leaseFor: "1s" }), takes: "whole", leases: true },
  { make: (n) => concurrency({ limit: Math.floor(n), leaseFor: "30s" }), takes: "whole", leases: true },
];
