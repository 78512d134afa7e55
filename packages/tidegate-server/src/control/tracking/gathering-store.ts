import type { Check, Store, Terms, Verdict } from "tidegate";

/** Decisions that come within so long go to the store in one call: soon where few come, in larger calls where many do. */
export interface GatheringOptions {
  readonly fewWaitMs: number;
  readonly manyWaitMs: number;
  /** Fewer than these in one call are few. */
  readonly many: number;
}

interface Waiting {
  readonly checks: readonly Check[];
  readonly terms: Terms | undefined;
  readonly resolve: (verdicts: Verdict[] | Promise<Verdict[]>) => void;
  readonly reject: (error: unknown) => void;
}

/** The same store, where nobody is in a hurry: a store that answers later makes one call of what it is asked at once. A deadline begins when the wait is over. */
export function gatheringStore(store: Store, options: GatheringOptions): Store {
  const { fewWaitMs, manyWaitMs, many } = options;
  const { keepsDeadlines, accept, clock } = store;
  let waiting: Waiting[] = [];
  let waitMs = fewWaitMs;

  function goOn(): void {
    const together = waiting;
    waiting = [];
    waitMs = together.length < many ? fewWaitMs : manyWaitMs;
    for (const { checks, terms, resolve, reject } of together) {
      try {
        resolve(store.decide(checks, terms));
      } catch (error) {
        reject(error);
      }
    }
  }

  return {
    decide(checks, terms) {
      if (waiting.length === 0) setTimeout(goOn, waitMs);
      return new Promise((resolve, reject) => waiting.push({ checks, terms, resolve, reject }));
    },
    peek: (checks, terms) => store.peek(checks, terms),
    refund: (charges, terms) => store.refund(charges, terms),
    hold: (rule, key, forMs, terms) => store.hold(rule, key, forMs, terms),
    forget: (checks, terms) => store.forget(checks, terms),
    ...(keepsDeadlines !== undefined && { keepsDeadlines }),
    ...(accept && { accept: (limit) => accept.call(store, limit) }),
    ...(clock && { clock }),
  };
}
