import { ordersAtOnce } from "./varnish-orders.js";

/** So many at once as Varnish is sent orders. The first failure ends it, once those under way are done. */
export async function forEach<T>(items: Iterable<T>, act: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failed = false;
  async function work(): Promise<void> {
    for (let next = queue.next(); !next.done && !failed; next = queue.next())
      await act(next.value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
  }
  const outcomes = await Promise.allSettled(Array.from({ length: ordersAtOnce }, work));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
