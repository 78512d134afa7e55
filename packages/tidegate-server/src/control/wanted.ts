import { canonicalBlock } from "tidegate/http";
import { type EdgeAbilities, isAddressKey, isDigestKey } from "../edge.js";
import type { Offender } from "../offenders.js";
import { memo } from "./memo.js";

/** What is to stand at one edge. */
export interface Wanted {
  readonly entries: ReadonlyMap<string, WantedEntry>;
  /** Keys for which there is no room, though they are held. */
  readonly evicted: ReadonlySet<string>;
  /** Keys this edge can not know clients by. */
  readonly unknowable: ReadonlySet<string>;
  /** Keys of clients that are held, but go to no edge: spared, or cleared by hand under another key. */
  readonly spared: ReadonlySet<string>;
}

export interface WantedEntry {
  readonly until: number;
  readonly rule: string;
  readonly score: number;
  readonly crossedAt: number;
  readonly share: number;
  /** Whom it is about, where that is known. */
  readonly ip?: string | undefined;
}

export interface WantedOptions {
  readonly edge: string;
  /** Whether this edge knows clients by such a key, as `keyTest` answers it. */
  readonly knows: (key: string) => boolean;
  readonly maxEntries: number;
  /** Entries of somebody else's: they take room too. */
  readonly foreign: number;
  readonly offenders: readonly Offender[];
  /** Cleared by hand, and still in their hold-off. */
  readonly cleared: ReadonlySet<string>;
  /** Whether the client it is about was, whatever its key. */
  readonly isCleared: (offender: Offender) => boolean;
  /** Keys this edge lately refused. */
  readonly quarantined: ReadonlySet<string>;
  /** Whether an address or block must never go to an edge. */
  readonly isSpared: (address: string) => boolean;
  readonly now: number;
}

/** Who of those held goes to this edge, as far as there is room. Pure. */
export function wantedAt(options: WantedOptions): Wanted {
  const { edge, knows, maxEntries, foreign, offenders, cleared, isCleared, quarantined, isSpared, now } =
    options;
  const held = new Map<string, WantedEntry>();
  const unknowable = new Set<string>();
  const spared = new Set<string>();
  for (const offender of offenders) {
    const { key, edges, until } = offender;
    if (until <= now || (edges.length > 0 && !edges.includes(edge))) continue;
    if (cleared.has(key) || quarantined.has(key)) continue;
    if (!knows(key)) unknowable.add(key);
    else if (isSparedOffender(offender, isSpared) || isCleared(offender)) spared.add(key);
    else held.set(key, together(held.get(key), offender));
  }
  // Digests say nothing of an address: whoever shares a spared client's key is spared with it.
  for (const key of spared) held.delete(key);
  const { entries, evicted } = fitting(held, Math.max(0, maxEntries - foreign));
  return { entries, evicted, unknowable, spared };
}

/** The worst, and of equals those held longest. */
function fitting(held: Map<string, WantedEntry>, room: number): Pick<Wanted, "entries" | "evicted"> {
  if (held.size <= room) return { entries: held, evicted: new Set() };
  const worstFirst = [...held].sort(([a, x], [b, y]) => byUrgency(x, y) || (a < b ? -1 : 1));
  return {
    entries: new Map(worstFirst.slice(0, room)),
    evicted: new Set(worstFirst.slice(room).map(([key]) => key)),
  };
}

/** Worst first, of equals whoever is held longest. */
export function byUrgency(a: WantedEntry, b: WantedEntry): number {
  return b.score - a.score || b.until - a.until;
}

/** Several rules may hold one key. */
function together(known: WantedEntry | undefined, offender: Offender): WantedEntry {
  const { key, until, rule, score, crossedAt, share = 0, about } = offender;
  const ip = about.ip ?? (isDigestKey(key) ? undefined : key);
  if (known === undefined) return { until, rule, score, crossedAt, share, ip };
  return {
    until: Math.max(known.until, until),
    rule: until > known.until ? rule : known.rule,
    score: Math.max(known.score, score),
    crossedAt: Math.max(known.crossedAt, crossedAt),
    share: Math.max(known.share, share),
    ip: known.ip ?? ip,
  };
}

function isSparedOffender({ key, about }: Offender, isSpared: (address: string) => boolean): boolean {
  return (about.ip !== undefined && isSpared(about.ip)) || (!isDigestKey(key) && isSpared(key));
}

/**
 * Canonical addresses and digests that this edge takes: nothing else reaches it. The edge is asked each time: some learn which they take only
 * when they are first read.
 */
export function keyTest({ takes }: Pick<EdgeAbilities, "takes">): (key: string) => boolean {
  const isKey = memo(isCanonical);
  return (key) => isKey(key) && takes(key);
}

function isCanonical(key: string): boolean {
  return isDigestKey(key) || (isAddressKey(key) && canonicalBlock(key) === key);
}
