/** A client that is held, and what the edges are to know of it. */
export interface Offender {
  /** A canonical address or block, or a digest in lower-case hex: never what a client wrote. */
  readonly key: string;
  readonly rule: string;
  /** Milliseconds since the epoch, all of them. */
  readonly crossedAt: number;
  readonly until: number;
  /** How many times over its limit, when last seen. When an edge is full the worst stay. */
  readonly score: number;
  /** Its requests that came through since it crossed. */
  readonly leaked: number;
  /** Edges it goes to, by name; empty: all. */
  readonly edges: readonly string[];
  /** Who it was, for people and for guards. It goes to no edge. */
  readonly about: OffenderFacts;
  /** Which part of the clients seen lately was held when it crossed, 0 to 1. */
  readonly share?: number;
}

/** As the client wrote them, cut to 200 characters: hostile until shown to be printable. */
export interface OffenderFacts {
  /** Canonical. Unknown of entries found at an edge. */
  readonly ip?: string;
  readonly host?: string;
  readonly method?: string;
  readonly path?: string;
  readonly userAgent?: string;
}

/**
 * Who is held now: in this process, or in Redis for all of them. One offender per rule and key. Bounded: when full, the mildest go
 * first, of equals whoever is released soonest. Ended ones are never answered.
 */
export interface Offenders {
  /** New, longer, worse or further leaked; `until` and `leaked` never fall. Answers whether the edges have to know. */
  add(offender: Offender): Promise<boolean>;
  /** Worst first. */
  now(): Promise<Offender[]>;
  /** Drops these keys, whatever the rule; answers whom. */
  remove(keys: readonly string[]): Promise<Offender[]>;
  /**
   * Tells that something changed, whoever changed it: soon, sometimes twice, sometimes not at all. Only a reason to look.
   * Answers how to stop.
   */
  watch(listener: () => void): () => void;
  /** False until `markComplete`, and again after a loss: then what stands at the edges may be all that is left. */
  isComplete(): Promise<boolean>;
  markComplete(): Promise<void>;
  /** How many went for want of room since it began, as of the last look. */
  dropped(): number;
}
