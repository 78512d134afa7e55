import type { Verdict } from "tidegate";

/** Whether a store answers, as found out by whoever asks it. */
export interface StoreHealth {
  answered(verdicts: readonly Verdict[]): void;
  failed(error: unknown): void;
  /** Somebody failed, and nobody was answered since: whether it is there for others is to be found out. */
  isInDoubt(): boolean;
}

export interface StoreHealthOptions {
  /** Somebody is asked about within this time, as long as somebody comes. */
  readonly askedWithinMs: number;
  /** In doubt, somebody else is within this: who is answered then shows that the store is there, whoever fails. */
  readonly triedWithinMs: number;
  readonly now: () => number;
  /** Several calls in a row failed; one that counted was answered since. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
}

/** In a row: who fails where others are answered, as with a part of a store, is asked about each time, and fails in a row too. */
const mostFailures = 5;

export function storeHealth(options: StoreHealthOptions): StoreHealth {
  const { askedWithinMs, triedWithinMs, now, onAway, onBack } = options;
  let isAway = false;
  let failures = 0;
  /** When the first of them came. */
  let doubtedAt = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;

  function isUnheard(at: number): boolean {
    return at - doubtedAt >= triedWithinMs || at - answeredAt >= askedWithinMs;
  }

  return {
    answered(verdicts) {
      // Whoever is refused may cost the store no write: that does not show that it can.
      if (!verdicts.every(({ allowed }) => allowed)) return;
      failures = 0;
      answeredAt = now();
      if (!isAway) return;
      isAway = false;
      onBack();
    },
    failed(error) {
      const at = now();
      if (++failures === 1) doubtedAt = at;
      if (isAway || failures < mostFailures || !isUnheard(at)) return;
      isAway = true;
      onAway(error);
    },
    isInDoubt: () => failures > 0 && !isAway,
  };
}
