import type { Clock } from "tidegate";
import type { Edge, EdgeMode, RefusedKey } from "../edge.js";
import type { Log } from "../log.js";
import { bounded } from "./bounded.js";
import type { EdgeView } from "./edge-view.js";
import type { KeeperTerms } from "./keeper-terms.js";
import { batchesOf, type Plan } from "./plan.js";

/** Tells one edge, in pieces it takes and not faster than it takes them. */
export interface EdgeWriter {
  /** The edge takes no more for so long; removals may be tried once. 0: it takes more. */
  readonly resumeInMs: number;
  /** Makes the changes, the most urgent first, as far as it gets; answers how many are left. */
  apply(plan: Plan): Promise<number>;
  setMode(mode: EdgeMode): Promise<void>;
}

export interface EdgeWriterOptions {
  readonly edge: Edge;
  readonly view: EdgeView;
  readonly terms: KeeperTerms;
  readonly clock: Clock;
  /** Nobody sets it, so that no pause grows. */
  readonly steady: () => number;
  readonly log: Log;
  /** Asked before each piece: nobody else may write. */
  readonly mayWrite: () => Promise<boolean>;
  /** Asked after each piece: something more urgent has come, or the end. */
  readonly isInterrupted: () => boolean;
  readonly onRefused: (refused: readonly RefusedKey[]) => void;
  readonly onApplied: (done: Plan) => void;
}

export function openEdgeWriter(options: EdgeWriterOptions): EdgeWriter {
  const { edge, view, terms, clock, steady, log, mayWrite, isInterrupted, onRefused, onApplied } = options;
  let resumeAt = Number.NEGATIVE_INFINITY;
  /** What the edge left, and would leave again. */
  let waiting = new Set<string>();

  function writable(plan: Plan): Plan {
    const now = clock();
    if (steady() >= resumeAt) {
      waiting = new Set();
      return plan;
    }
    const isUrgent = (key: string): boolean => !waiting.has(key) && (view.entries.get(key) ?? 0) > now;
    return { put: [], remove: plan.remove.filter(isUrgent) };
  }

  /** Answers how many of the changes are made, or will never be. */
  async function applyBatch(batch: Plan): Promise<number> {
    view.trying(batch);
    const what = `${edge.name}: applying`;
    const outcome = await bounded(terms.applyMs, what, (signal) => edge.apply(batch, signal));
    view.told(batch, outcome);
    const { refused, left } = outcome;
    if (refused.length > 0)
      log.warn({ edge: edge.name, count: refused.length, first: refused[0] }, "an edge refuses keys");
    onRefused(refused);
    const untold = new Set([...left, ...refused.map(({ key }) => key)]);
    onApplied({
      remove: batch.remove.filter((key) => !untold.has(key)),
      put: batch.put.filter(({ key }) => !untold.has(key)),
    });
    if (left.length > 0) {
      const restMs = outcome.resumeAt === undefined ? terms.retryMs : outcome.resumeAt - clock();
      resumeAt = steady() + restMs;
      for (const key of left) waiting.add(key);
    }
    return batch.remove.length + batch.put.length - left.length;
  }

  return {
    get resumeInMs() {
      return Math.max(0, resumeAt - steady());
    },
    async apply(plan) {
      let left = plan.remove.length + plan.put.length;
      for (const batch of batchesOf(writable(plan), edge.abilities.maxBatch)) {
        if (!(await mayWrite())) break;
        left -= await applyBatch(batch);
        if (steady() < resumeAt || isInterrupted()) break;
      }
      return left;
    },
    async setMode(mode) {
      if (view.mode === mode || !(await mayWrite())) return;
      const what = `${edge.name}: setting its mode`;
      await bounded(terms.applyMs, what, (signal) => edge.setMode(mode, signal));
      view.toldMode(mode);
      log.info({ edge: edge.name, mode }, "an edge's mode is set");
    },
  };
}
