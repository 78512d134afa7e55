import type { Edge } from "../edge.js";
import type { EdgeFacts } from "./edge-facts.js";
import { type Plan, planFor } from "./plan.js";
import { keyTest, type Wanted, wantedAt } from "./wanted.js";

/** What one edge should hold, and what has to change for that. */
export interface Wish {
  /** Whether the edge looks up such a key. */
  readonly knows: (key: string) => boolean;
  wanted(facts: EdgeFacts, at: WishedAt): Wanted;
  plan(wanted: Wanted, current: ReadonlyMap<string, number>, facts: EdgeFacts, at: WishedAt): Plan;
}

export interface WishedAt {
  /** Entries of others that stand there and take room. */
  readonly foreign: number;
  /** Keys the edge refused: neither put nor removed. */
  readonly quarantined: ReadonlySet<string>;
  readonly now: number;
}

export interface WishOptions {
  readonly edge: Pick<Edge, "name" | "abilities">;
  readonly isSpared: (address: string) => boolean;
  readonly everyMs: number;
}

export function wishFor({ edge: { name, abilities }, isSpared, everyMs }: WishOptions): Wish {
  const knows = keyTest(abilities);
  const { maxEntries, delayMs } = abilities;
  return {
    knows,
    wanted: ({ offenders, cleared, isCleared }, { foreign, quarantined, now }) =>
      wantedAt({
        edge: name,
        knows,
        maxEntries,
        foreign,
        offenders,
        cleared,
        isCleared,
        quarantined,
        isSpared,
        now,
      }),
    plan({ entries: wanted }, current, { cleared }, { quarantined, now }) {
      const { put, remove } = planFor({ wanted, current, cleared, now, soonMs: 2 * everyMs + delayMs });
      return { put, remove: remove.filter((key) => !quarantined.has(key)) };
    },
  };
}
