/** A client that is held, and by what: what the edges are to know of it. */
export interface Offender {
  /** A canonical address or a hex digest, never what a client wrote. */
  readonly key: string;
  readonly rule: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Edges it goes to; empty: all. */
  readonly edges: readonly string[];
}

/** Who is held now. Bounded: when full, whoever is released soonest goes first. */
export interface Offenders {
  add(offender: Offender): void;
  /** Longest held first. */
  now(): Offender[];
  readonly size: number;
  /** Tells of every new or longer hold. Answers how to stop. */
  watch(listener: (offender: Offender) => void): () => void;
}

export interface OffendersOptions {
  readonly most?: number;
  readonly now?: () => number;
}

export function memoryOffenders({ most = 10_000, now = Date.now }: OffendersOptions = {}): Offenders {
  const held = new Map<string, Offender>();
  const listeners = new Set<(offender: Offender) => void>();

  function dropEnded(): void {
    const at = now();
    for (const [id, { until }] of held) if (until <= at) held.delete(id);
  }

  function makeRoom(): void {
    dropEnded();
    if (held.size < most) return;
    let soonest: [string, Offender] | undefined;
    for (const each of held) if (soonest === undefined || each[1].until < soonest[1].until) soonest = each;
    if (soonest !== undefined) held.delete(soonest[0]);
  }

  return {
    add(offender) {
      const id = `${offender.rule}\n${offender.key}`;
      if ((held.get(id)?.until ?? 0) >= offender.until) return;
      if (!held.has(id) && held.size >= most) makeRoom();
      held.set(id, offender);
      for (const listener of listeners) listener(offender);
    },
    now() {
      dropEnded();
      return [...held.values()].sort((a, b) => b.until - a.until);
    },
    get size() {
      dropEnded();
      return held.size;
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
