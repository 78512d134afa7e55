import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../../../errors.js";

/** Waits without keeping the process alive; at once when the signal is given. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await sleep(ms, undefined, { ref: false, signal }).catch(() => {});
}

/** At once, then 50 ms, doubling up to 2 s. */
export function backOffMs(tries: number): number {
  return tries === 0 ? 0 : Math.min(50 * 2 ** (tries - 1), 2000);
}

/** The answer, or an error when it does not come in time. */
export function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // After a stall of this process the timer is seen before an answer that has long been there: sockets get one more turn.
    const timer = setTimeout(() => setImmediate(() => reject(noAnswer(ms))), ms);
    timer.unref();
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function noAnswer(ms: number): StoreError {
  return new StoreError(
    "TG_STORE_DEADLINE",
    "redis",
    `the directory got no answer in ${ms} ms.`,
    "See that Redis is up and not overloaded.",
    { transient: true },
  );
}
