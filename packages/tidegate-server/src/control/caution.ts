import type { SetMode } from "../data.js";
import type { Log } from "../log.js";
import type { Offenders } from "../offenders.js";
import type { ControlGuard } from "../settings.js";
import { type EdgeStop, nextStop } from "./edge-stop.js";
import { isLive, isMassRelease, openGuard } from "./guard.js";
import type { Plan, PlannedEntry } from "./plan.js";
import type { Wanted } from "./wanted.js";

/** Stands between a plan and an edge. */
export interface Caution {
  readonly stop: EdgeStop;
  /** How it was left by whoever kept the edge before. */
  resume(stop: EdgeStop): void;
  /** False until what stands at the edges is known to be wished or not. */
  readonly isComplete: boolean;
  /** Asked before the offenders are read: what is complete later need not have been then. */
  askComplete(): Promise<void>;
  /** The part of a plan that may be applied. */
  restrict(plan: Plan, facts: CautionFacts): Promise<Plan>;
  /** These are new at the edge. */
  applied(entries: readonly PlannedEntry[], now: number): void;
}

export interface CautionFacts {
  readonly wanted: Wanted;
  readonly current: ReadonlyMap<string, number>;
  readonly cleared: ReadonlySet<string>;
  readonly set: SetMode | undefined;
  readonly now: number;
}

export interface CautionOptions {
  readonly edge: string;
  readonly guard: ControlGuard;
  readonly offenders: Pick<Offenders, "isComplete">;
  readonly onIncomplete: () => void;
  readonly log: Log;
}

export function openCaution({ edge, guard: limits, offenders, onIncomplete, log }: CautionOptions): Caution {
  const guard = openGuard(limits);
  let isComplete = false;
  let stop: EdgeStop = {};

  async function askAgain(): Promise<boolean> {
    isComplete = await offenders.isComplete();
    if (!isComplete) onIncomplete();
    return isComplete;
  }

  return {
    get stop() {
      return stop;
    },
    resume(before) {
      stop = before;
    },
    get isComplete() {
      return isComplete;
    },
    async askComplete() {
      if (!isComplete) await askAgain();
    },
    async restrict(plan, { wanted, current, cleared, set, now }) {
      const { entries, evicted, spared } = wanted;
      const mayGo = (key: string): boolean => cleared.has(key) || evicted.has(key) || spared.has(key);
      const isRelease = (key: string): boolean => !mayGo(key) && isLive(current, key, now);
      const releases = plan.remove.filter(isRelease);
      const withoutReleases = { ...plan, remove: plan.remove.filter((key) => !isRelease(key)) };
      // Nobody is let go because the index was lost; it may have been since it was complete.
      const wasComplete = isComplete;
      const mayRelease = releases.length === 0 || (wasComplete && (await askAgain()));
      const rest = mayRelease ? plan : withoutReleases;
      const facts = { now, held: entries.size, current, mayGo };
      const before = stop.stopped;
      stop = nextStop(stop, { wrong: guard.judge(rest, facts), set, now });
      if (stop.stopped && stop.stopped !== before)
        log.error(
          { edge, why: stop.stopped.why },
          "a guard stops an edge: it goes to shadow until a person says on",
        );
      return stop.stopped && isMassRelease(rest, facts) ? withoutReleases : rest;
    },
    applied: guard.applied,
  };
}
