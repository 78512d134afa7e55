/** A service that fails time and again is left alone for a while: a hung one costs the time-out a few times, not on every request. */
export interface ServiceBreaker {
  /** False while the service is left alone; then one request in so long may try. */
  mayAsk(): boolean;
  succeeded(): void;
  failed(): void;
}

export function serviceBreaker({ failures, pauseMs }: { failures: number; pauseMs: number }): ServiceBreaker {
  let inARow = 0;
  let nextTryAt = 0;
  return {
    mayAsk() {
      if (inARow < failures) return true;
      const now = performance.now();
      if (now < nextTryAt) return false;
      nextTryAt = now + pauseMs;
      return true;
    },
    succeeded() {
      inARow = 0;
    },
    failed() {
      inARow++;
      if (inARow === failures) nextTryAt = performance.now() + pauseMs;
    },
  };
}
