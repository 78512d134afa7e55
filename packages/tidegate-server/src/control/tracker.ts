import { Counter, type Registry } from "prom-client";
import {
  createGate,
  type Duration,
  memoryDirectory,
  type RateText,
  type Store,
  type Subject,
} from "tidegate";
import type { Log } from "../log.js";
import type { TrackSettings } from "../settings.js";
import type { Offenders } from "./offenders.js";

/** Counts who comes, beside the request's way: nobody waits for it, and nobody is refused by it. */
export interface Tracker {
  track(subject: Subject): void;
  close(): Promise<void>;
}

export interface TrackerOptions {
  readonly settings: TrackSettings;
  readonly store: Store;
  readonly offenders: Offenders;
  readonly log: Log;
  readonly registry: Registry;
  /** Calls to the store under way at the same time; further clients go uncounted, and that is counted. */
  readonly mostUnderWay?: number;
}

/** Counts of the tracker stand under these names in the store. */
const trackedRules = { standard: "edge/standard", broad: "edge/broad" } as const;

/** Clients that come within so long go to the store in one call. */
const gatherMs = 4;

export function openTracker(options: TrackerOptions): Tracker {
  const { settings, store, offenders, log, registry, mostUnderWay = 1_000 } = options;
  const hold = { for: settings.holdFor as readonly Duration[] };
  const only = settings.methods.length === 0 ? {} : { only: { method: settings.methods } };
  const gate = createGate({
    store,
    directory: memoryDirectory(),
    onStoreFailure: "allow",
    rules: [
      { name: trackedRules.standard, by: "standard", limits: [settings.standard as RateText], hold, ...only },
      { name: trackedRules.broad, by: "broad", limits: [settings.broad as RateText], hold, ...only },
    ],
    onWarning: ({ code, message }) => log.warn({ code, message }, "tracking"),
  });
  gate.on("held", ({ rule, key, until }) => offenders.add({ rule, key, until, edges: [] }));
  const tracked = new Counter({
    name: "tidegate_tracked_total",
    help: "Requests counted for the edges, and those that went uncounted because the store was too slow.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  const counted = tracked.labels("counted");
  const dropped = tracked.labels("dropped");
  const gathered: Subject[] = [];
  let timer: NodeJS.Timeout | undefined;
  let underWay = 0;

  async function count(subject: Subject): Promise<void> {
    underWay++;
    try {
      await gate.decide(subject);
      counted.inc();
    } catch (error) {
      dropped.inc();
      log.debug({ err: error }, "a request could not be tracked");
    } finally {
      underWay--;
    }
  }

  function countGathered(): void {
    timer = undefined;
    for (const subject of gathered.splice(0)) void count(subject);
  }

  return {
    track(subject) {
      if (underWay + gathered.length >= mostUnderWay) {
        dropped.inc();
        return;
      }
      gathered.push(subject);
      timer ??= setTimeout(countGathered, gatherMs);
    },
    async close() {
      clearTimeout(timer);
      countGathered();
      await gate.close();
    },
  };
}
