/** Exchanges with Fastly at a time. */
const atOnce = 8;

/** In their order, a few at a time. The first failure is thrown once those under way have ended. */
export async function forEach<T>(given: readonly T[], act: (each: T) => Promise<void>): Promise<void> {
  const waiting = [...given];
  const workers = Array.from({ length: Math.min(atOnce, waiting.length) }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await act(next);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  });
  for (const outcome of await Promise.allSettled(workers))
    if (outcome.status === "rejected") throw outcome.reason;
}
