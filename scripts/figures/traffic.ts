// What the figures show: clients sending at set times, judged by the library on a virtual clock.
import { createLimiter, earrrl, fixedWindow, type Limit, memoryStore } from "tidegate";
import { virtualClock } from "tidegate/testing";

/** A time in seconds, and what was found then. */
export type Point = readonly [seconds: number, value: number];

export interface Convergence {
  readonly perSecond: number;
  /** The estimate just before and just after each call, and as it fades when there are no more. */
  readonly estimates: readonly Point[];
}

export const convergenceFrom = 50;
export const convergenceTo = 200;
const convergenceEnd = 260;

/** Clients that send 10, 1 and 0.1 calls a second from t = 50 s to t = 200 s, and what EARRRL takes them for. */
export async function convergence(halfLifeSeconds: number): Promise<Convergence[]> {
  return Promise.all(
    [10, 1, 0.1].map(async (perSecond) => {
      const clock = virtualClock();
      // No rate is ever reached: this is about the estimate alone.
      const limit = earrrl({ rate: 1e6, halfLife: halfLifeSeconds * 1000 });
      const limiter = createLimiter({ name: "convergence", limit, store: memoryStore({ clock }) });
      const estimates: Point[] = [];
      const calls = (convergenceTo - convergenceFrom) * perSecond;
      for (let i = 0; i < calls; i++) {
        const seconds = convergenceFrom + i / perSecond;
        clock.set(seconds * 1000);
        estimates.push([seconds, (await limiter.consume("client")).estimate as number]);
        estimates.push([seconds, (await limiter.peek("client")).estimate as number]);
      }
      for (let seconds = convergenceTo; seconds <= convergenceEnd; seconds++) {
        clock.set(seconds * 1000);
        estimates.push([seconds, (await limiter.peek("client")).estimate as number]);
      }
      return { perSecond, estimates };
    }),
  );
}

export interface Reform {
  readonly name: string;
  /** When each call came, and whether it was let in. */
  readonly calls: readonly { readonly seconds: number; readonly allowed: boolean }[];
}

export const reformsAt = 150;
const reformEnd = 400;

/** A client 67 % over one call a second until t = 150 s, and exactly at it from then on. */
export async function reform(): Promise<Reform[]> {
  const limits: [name: string, limit: Limit][] = [
    ["Fixed window, 10 per 10 s", fixedWindow({ limit: 10, window: "10s" })],
    ["EARRRL, 1 per second, half-life 20 s", earrrl({ rate: 1, halfLife: "20s" })],
  ];
  return Promise.all(
    limits.map(async ([name, limit]) => {
      const clock = virtualClock();
      const limiter = createLimiter({ name: "reform", limit, store: memoryStore({ clock }) });
      const calls: { seconds: number; allowed: boolean }[] = [];
      for (const seconds of reformTimes()) {
        clock.set(seconds * 1000);
        calls.push({ seconds, allowed: (await limiter.consume("client")).allowed });
      }
      return { name, calls };
    }),
  );
}

function reformTimes(): number[] {
  const hasty = Array.from({ length: reformsAt / 0.6 }, (_, i) => Math.round(i * 600) / 1000);
  const calm = Array.from({ length: reformEnd - reformsAt }, (_, i) => reformsAt + i);
  return [...hasty, ...calm];
}
