import type { EdgeStanding } from "../control-desk.js";
import type { ClearedKey } from "../data.js";
import type { Offender } from "../offenders.js";
import { type ClearedBy, clearedBy } from "./cleared-by.js";
import type { SeenEdge } from "./seen-edges.js";
import { type Wanted, wantedAt } from "./wanted.js";

/** Why an address or block goes to no edge; undefined: it does. */
export type SparedBy = (address: string) => string | undefined;

export interface StandingFacts {
  /** All who are held: they compete for room. */
  readonly offenders: readonly Offender[];
  readonly clears: readonly ClearedKey[];
  readonly sparedBy: SparedBy;
  readonly now: number;
}

/** How an offender stands at one edge; undefined: it does not go there. */
export function standingsAt(
  seen: SeenEdge,
  facts: StandingFacts,
): (offender: Offender) => EdgeStanding | undefined {
  const { edge, standsAt, mode, stopped, quarantined } = seen.status;
  const { sparedBy } = facts;
  const clears = facts.clears.filter(({ until }) => until > facts.now);
  const clearOf = clearedBy(clears);
  const refused = new Map(quarantined.map(({ key, why }) => [key, why]));
  const cleared = new Set(clears.map(({ key }) => key));
  const wanted = wantedBy(seen, facts, cleared, clearOf, refused);
  /** Who was told to an edge is refused there only when it is on. */
  const told =
    (standsAt ?? mode) === "on" ? ("held" as const) : (standsAt ?? mode) === "off" ? "off" : "shadow";

  return (offender) => {
    const { key, edges, crossedAt } = offender;
    if (edges.length > 0 && !edges.includes(edge)) return undefined;
    const clear = clearOf(offender);
    if (clear !== undefined)
      return !seen.knows(key) || seen.hasHeard(key, clear.at)
        ? { edge, state: "hold-off", until: clear.until }
        : { edge, state: "leaving", until: clear.until };
    const why = refused.get(key);
    if (why !== undefined) return { edge, state: "quarantined", why };
    if (wanted.unknowable.has(key)) return { edge, state: "unknowable" };
    if (wanted.spared.has(key)) return { edge, state: "spared", why: whySpared(offender, sparedBy) };
    if (wanted.evicted.has(key)) return { edge, state: "evicted" };
    if (seen.has(key, crossedAt)) return { edge, state: told };
    return { edge, state: "waiting", ...(stopped !== undefined && { why: "withheld by a guard" }) };
  };
}

function wantedBy(
  { status, knows }: SeenEdge,
  { offenders, sparedBy, now }: StandingFacts,
  cleared: ReadonlySet<string>,
  clearOf: ClearedBy,
  refused: ReadonlyMap<string, unknown>,
): Wanted {
  const { edge, maxEntries, foreign = 0 } = status;
  return wantedAt({
    edge,
    knows,
    maxEntries: maxEntries === 0 ? Number.POSITIVE_INFINITY : maxEntries,
    foreign,
    offenders,
    cleared,
    isCleared: (offender) => clearOf(offender) !== undefined,
    quarantined: new Set(refused.keys()),
    isSpared: (address) => sparedBy(address) !== undefined,
    now,
  });
}

function whySpared({ key, about }: Offender, sparedBy: SparedBy): string {
  return (about.ip && sparedBy(about.ip)) ?? sparedBy(key) ?? "shares the key of one that is spared";
}
