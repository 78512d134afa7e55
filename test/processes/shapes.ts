import {
  type Check,
  fixedWindow,
  type Limit,
  slidingLog,
  tokenBucket,
} from "../../packages/tidegate/src/index.js";

const long = (limit: number) => fixedWindow({ limit, window: "400d" });

export type Shape = "one limit" | "three limits" | "a sliding log" | "a log beside a window" | "two keys";

/** What one decision asks. The narrowest limit is always 100, and no window ends during a test. */
export const shapes: Record<Shape, (i: number) => Check[]> = {
  "one limit": () => of(long(100)),
  "three limits": () =>
    of(
      long(100),
      tokenBucket({ rate: 1, per: "10d", burst: 150 }),
      fixedWindow({ limit: 200, window: "1000d" }),
    ),
  "a sliding log": () => of(slidingLog({ limit: 100, window: "10d" })),
  "a log beside a window": () => of(slidingLog({ limit: 100, window: "10d" }), long(150)),
  "two keys": (i: number) => [
    { rule: "all", key: "everyone", limit: long(100) },
    { rule: "each", key: `client ${i % 4}`, limit: long(40) },
  ],
};

function of(...limits: Limit[]): Check[] {
  return limits.map((limit) => ({ rule: "r", key: "k", limit }));
}
