import type { Limiter } from "../limiter.js";

/** What the scripts of "Rate Limiting using Redis Lists and Sorted Sets" reply. */
export type PassOrExceeded = "pass" | "exceeded limit";

/** A limiter that answers in the printed words. */
export function passOrExceeded(limiter: Limiter): (key: string, cost?: number) => Promise<PassOrExceeded> {
  return async (key, cost = 1) => {
    const { allowed } = await limiter.consume(key, { cost });
    return allowed ? "pass" : "exceeded limit";
  };
}
