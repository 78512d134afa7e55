import type { EdgeBook, SetMode } from "../data.js";
import type { Log } from "../log.js";
import type { Offenders } from "../offenders.js";
import type { ControlGuard } from "../settings.js";
import { afterQuiet, type EdgeStop, isWorthKeeping, nextStop, readStop } from "./edge-stop.js";
import { isLatelyCrossed, isLive, isMassRelease, openGuard } from "./guard.js";
import { afterStop } from "./keeper-status.js";
import type { Plan, PlannedEntry } from "./plan.js";
import type { Wanted } from "./wanted.js";

/** Stands between a plan and an edge. */
export interface Caution {
  readonly stop: EdgeStop;
  /** Takes over from whoever kept the edge before. */
  resume(): Promise<void>;
  /** False until what stands at the edges is known to be wished or not. */
  readonly isComplete: boolean;
  /** Asked before the offenders are read: what is complete later need not have been then. */
  askComplete(): Promise<void>;
  /** The part of a plan that may be applied, and how many changes a guard withholds. */
  restrict(plan: Plan, facts: CautionFacts): Promise<{ readonly plan: Plan; readonly withheld: number }>;
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
  readonly book: Pick<EdgeBook, "stops" | "setStop">;
  readonly onIncomplete: () => void;
  readonly steady: () => number;
  readonly log: Log;
}

export function openCaution(options: CautionOptions): Caution {
  const { edge, guard: limits, offenders, book, onIncomplete, steady, log } = options;
  const guard = openGuard({ limits, steady });
  let isComplete = false;
  let stop: EdgeStop = {};
  /** As it is written down. */
  let kept: EdgeStop = {};
  /** What stood there when it was stopped: that goes on, and comes back after a loss. */
  let stood: ReadonlySet<string> | undefined;

  async function askAgain(): Promise<boolean> {
    isComplete = await offenders.isComplete();
    if (!isComplete) onIncomplete();
    return isComplete;
  }

  function decide(plan: Plan, facts: CautionFacts, isFree: (key: string) => boolean): EdgeStop {
    const { wanted, current, set, now } = facts;
    const wrong = guard.judge(plan, { now, wanted, current, mayGo: isFree });
    const next = nextStop(stop, { wrong, set, now });
    if (next.stopped && !stop.stopped)
      log.error(
        { edge, why: next.stopped.why, help: afterStop(edge) },
        "a guard stops a plan: new entries are withheld until a person says on, those that stand there stay",
      );
    return next;
  }

  /** New entries wait for a person; who stood there when it began is no news. */
  function withoutNews(plan: Plan, { current, now }: CautionFacts): Plan {
    stood ??= new Set(current.keys());
    const known = stood;
    const since = Math.min(now, stop.stopped?.at ?? now);
    return {
      ...plan,
      put: plan.put.filter((entry) => known.has(entry.key) || !isLatelyCrossed(entry, since)),
    };
  }

  /** Should it fail, the next round tries again. */
  async function keep(): Promise<void> {
    if (!isWorthKeeping(stop, kept)) return;
    const now = stop;
    const isNone = now.stopped === undefined && now.overriddenUntil === undefined;
    try {
      await book.setStop(edge, isNone ? undefined : now);
      kept = now;
    } catch (error) {
      log.debug({ err: error, edge }, "what a guard withholds is not written down");
    }
  }

  return {
    get stop() {
      return stop;
    },
    async resume() {
      stop = readStop((await book.stops()).get(edge));
      kept = stop;
      stood = undefined;
    },
    get isComplete() {
      return isComplete;
    },
    async askComplete() {
      if (!isComplete) await askAgain();
    },
    async restrict(plan, facts) {
      const { wanted, current, cleared, now } = facts;
      const mayGo = (key: string): boolean =>
        cleared.has(key) || wanted.evicted.has(key) || wanted.spared.has(key);
      const isRelease = (key: string): boolean => !mayGo(key) && isLive(current, key, now);
      const releases = plan.remove.filter(isRelease);
      const withoutReleases = { ...plan, remove: plan.remove.filter((key) => !isRelease(key)) };
      // Nobody is let go because the index was lost; it may have been since it was complete.
      const wasComplete = isComplete;
      const mayRelease = releases.length === 0 || (wasComplete && (await askAgain()));
      const rest = mayRelease ? plan : withoutReleases;
      stop = decide(rest, facts, mayGo);
      let allowed = rest;
      if (stop.stopped === undefined) stood = undefined;
      else
        allowed = withoutNews(isMassRelease(rest, { now, current, mayGo }) ? withoutReleases : rest, facts);
      const withheld = countOf(rest) - countOf(allowed);
      stop = afterQuiet(stop, withheld, now);
      await keep();
      return { plan: allowed, withheld };
    },
    applied: guard.applied,
  };
}

function countOf({ remove, put }: Plan): number {
  return remove.length + put.length;
}
