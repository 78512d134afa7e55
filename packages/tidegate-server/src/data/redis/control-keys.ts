/** Where what control knows stands in Redis: all in one slot, so that a script may use several of them. */
export interface ControlKeys {
  /** Hash: offender to record, and `#born`, `#rev`, `#floor`, `#complete`, `#dropped` of the whole. */
  readonly held: string;
  /** Sorted set: offender by `until`. */
  readonly ends: string;
  /** Sorted set: `until`, a space and offender, by score: the mildest first, of equals whoever is released soonest. */
  readonly ranks: string;
  /** Sorted set: offender by the number of its last change. */
  readonly changes: string;
  /** Stream: something changed; field `k` says what, `o` offenders or `b` the book of edges. */
  readonly events: string;
  /** Hash: edge to mode. */
  readonly modes: string;
  /** Hash: edge to what a guard withholds there. */
  readonly stops: string;
  /** Hash: cleared key to entry; and its index by `until`. */
  readonly clears: string;
  readonly clearEnds: string;
  /** Hash: edge to report. */
  readonly reports: string;
  /** The last number given with a lease. */
  readonly fence: string;
  lease(name: string): string;
}

export function controlKeys(prefix: string): ControlKeys {
  const home = `${prefix}:{control}`;
  return {
    held: `${home}:held`,
    ends: `${home}:ends`,
    ranks: `${home}:ranks`,
    changes: `${home}:changes`,
    events: `${home}:events`,
    modes: `${home}:modes`,
    stops: `${home}:stops`,
    clears: `${home}:clears`,
    clearEnds: `${home}:clear-ends`,
    reports: `${home}:reports`,
    fence: `${home}:fence`,
    lease: (name) => `${home}:lease:${name}`,
  };
}
