import { isRefusal } from "./failures.js";
import type { Link, Master } from "./masters.js";
import { textsOf } from "./replies.js";
import { backOffMs, pause, within } from "./timing.js";

/** One master asked to push what changes, again and again whenever the connection breaks. */
export interface Tracker {
  /** False while changes there may go unseen. */
  readonly isArmed: boolean;
  /** True when the last attempt to arm failed. */
  readonly isFailing: boolean;
  stop(): void;
}

export interface TrackerEvents {
  /** From now on changes are told; those before may have been missed. */
  armed(): void;
  changed(keys: readonly string[]): void;
  /** Everything may have changed. */
  flushed(): void;
  /** Can not be armed for now. Told once until it is armed again. */
  failing(error: unknown): void;
}

const channel = "__redis__:invalidate";
const armWithinMs = 3000;
/** A connection that died without a word is found out after 3 s at most. */
const pingEveryMs = 1000;
const pongWithinMs = 2000;
/** One that broke sooner is not opened again at once: somebody may be closing them all. */
const shortLifeMs = 1000;

export function trackMaster(
  master: Master,
  prefixes: readonly string[],
  refusedPauseMs: number,
  events: TrackerEvents,
): Tracker {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isArmed = false;
  let isFailing = false;

  async function run(): Promise<void> {
    let tries = 0;
    while (!signal.aborted) {
      try {
        const link = await arm(master, prefixes, events, signal);
        isArmed = true;
        isFailing = false;
        const armedAt = performance.now();
        events.armed();
        await untilLost(link, signal);
        isArmed = false;
        tries = performance.now() - armedAt < shortLifeMs ? tries + 1 : 0;
      } catch (error) {
        if (signal.aborted) return;
        if (!isFailing) events.failing(error);
        isFailing = true;
        tries++;
        if (isRefusal(error)) await pause(refusedPauseMs, signal);
      }
      await pause(backOffMs(tries), signal);
    }
  }

  void run();
  return {
    get isArmed() {
      return isArmed;
    },
    get isFailing() {
      return isFailing;
    },
    stop: () => stopping.abort(),
  };
}

/** Tracking redirected to the very connection that asks for it, which then listens: one connection is enough. */
async function arm(
  master: Master,
  prefixes: readonly string[],
  events: TrackerEvents,
  signal: AbortSignal,
): Promise<Link> {
  const linking = master.link();
  try {
    return await within(
      armWithinMs,
      linking.then(async (link) => {
        const id = String(await link.command(["CLIENT", "ID"]));
        const wanted = prefixes.flatMap((prefix) => ["PREFIX", prefix]);
        await link.command(["CLIENT", "TRACKING", "ON", "REDIRECT", id, "BCAST", ...wanted]);
        await link.subscribe(channel, (message) => {
          if (signal.aborted) return;
          if (message === null || message === undefined) events.flushed();
          else events.changed(textsOf(message));
        });
        return link;
      }),
    );
  } catch (error) {
    linking.then(
      (link) => link.close(),
      () => {},
    );
    throw error;
  }
}

/** Returns when the connection is gone or silent, or nobody wants it any more. */
async function untilLost(link: Link, signal: AbortSignal): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort();
  link.lost.then(end);
  signal.addEventListener("abort", end);
  try {
    while (!signal.aborted && !ending.signal.aborted) {
      await within(pongWithinMs, link.command(["PING"]));
      await pause(pingEveryMs, ending.signal);
    }
  } catch {
    // No pong.
  } finally {
    signal.removeEventListener("abort", end);
    link.close();
  }
}
