import type { Offender } from "../offenders.js";
import { byScore } from "./offender-merge.js";

/** Offenders kept in order while a few of many change. */
export interface RankedOffenders {
  /** Undefined: it is no more. */
  put(id: string, offender: Offender | undefined): void;
  clear(): void;
  /** Those not ended at this time, worst first. */
  at(time: number): Offender[];
}

interface Place {
  readonly id: string;
  readonly offender: Offender;
}

export function rankedOffenders(): RankedOffenders {
  const known = new Map<string, Place>();
  let ranked: Place[] = [];
  let fresh: Place[] = [];
  let hasGone = false;

  /** What is in order stays so; only the new ones are sorted, and put where they belong. */
  function putInOrder(): void {
    if (hasGone) ranked = ranked.filter(isKnown);
    if (fresh.length > 0) ranked = merged(ranked, fresh.filter(isKnown).sort(worstFirst));
    fresh = [];
    hasGone = false;
  }

  function isKnown(place: Place): boolean {
    return known.get(place.id) === place;
  }

  return {
    put(id, offender) {
      hasGone ||= known.has(id);
      if (offender === undefined) {
        known.delete(id);
        return;
      }
      const place = { id, offender };
      known.set(id, place);
      fresh.push(place);
    },
    clear() {
      known.clear();
      ranked = [];
      fresh = [];
      hasGone = false;
    },
    at(time) {
      putInOrder();
      const held: Offender[] = [];
      for (const { id, offender } of ranked) {
        if (offender.until > time) held.push(offender);
        else {
          known.delete(id);
          hasGone = true;
        }
      }
      return held;
    },
  };
}

function worstFirst(a: Place, b: Place): number {
  return byScore(a.offender, b.offender);
}

function merged(a: readonly Place[], b: readonly Place[]): Place[] {
  const all: Place[] = [];
  let i = 0;
  for (const place of b) {
    while (i < a.length && worstFirst(a[i] as Place, place) <= 0) all.push(a[i++] as Place);
    all.push(place);
  }
  while (i < a.length) all.push(a[i++] as Place);
  return all;
}
