import type { Leases } from "../data.js";

/** The right to write to one edge, as this process has it. */
export interface EdgeLease {
  /**
   * Takes it or holds on to it. Answers a number that is another one whenever somebody else may have had it in between; undefined: it is
   * somebody else's, or nobody can tell.
   */
  take(): Promise<number | undefined>;
  /** Whether it holds for so long still, by a clock nobody sets. */
  holdsFor(ms: number): boolean;
  giveUp(): Promise<void>;
}

export interface EdgeLeaseOptions {
  readonly leases: Leases;
  readonly name: string;
  readonly holder: string;
  readonly leaseMs: number;
  /** A lease with less than this left is renewed. */
  readonly renewMs: number;
  /** Somebody else's lease is asked for so often, however often `take` is called. */
  readonly retryMs: number;
}

/** Under which name the right to write to an edge is taken. */
export function leaseOf(edge: string): string {
  return `edge/${edge}`;
}

export function openEdgeLease(options: EdgeLeaseOptions): EdgeLease {
  const { leases, name, holder, leaseMs, renewMs, retryMs } = options;
  let fence: number | undefined;
  let endsAt = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;

  function holdsFor(ms: number): boolean {
    return fence !== undefined && performance.now() + ms < endsAt;
  }

  return {
    holdsFor,
    async take() {
      if (holdsFor(renewMs)) return fence;
      const askedAt = performance.now();
      if (fence === undefined && askedAt < refusedAt + retryMs) return undefined;
      const taken = await leases.take(name, holder, leaseMs);
      fence = taken;
      if (taken === undefined) refusedAt = askedAt;
      endsAt = taken === undefined ? 0 : askedAt + leaseMs;
      // An answer that came too late is none.
      return holdsFor(0) ? fence : undefined;
    },
    async giveUp() {
      const isHeld = fence !== undefined;
      fence = undefined;
      if (isHeld) await leases.giveUp(name, holder);
    },
  };
}
