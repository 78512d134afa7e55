import type { Verdict } from "tidegate";

/** Whether a store answers, as found out by whoever asks it. */
export interface StoreHealth {
  answered(verdicts: readonly Verdict[]): void;
  failed(error: unknown): void;
  /** When it last was. */
  answeredAt(): number;
}

export interface StoreHealthOptions {
  /** As long as somebody was answered within this time, the store is there, whoever fails. */
  readonly answersWithinMs: number;
  readonly now: () => number;
  /** Several calls in a row failed; one that counted was answered since. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
}

/** In a row: who fails where others are answered, as with a part of a store, is asked about each time, and fails in a row too. */
const mostFailures = 5;

export function storeHealth({ answersWithinMs, now, onAway, onBack }: StoreHealthOptions): StoreHealth {
  let isAway = false;
  let failures = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;

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
      failures++;
      if (isAway || failures < mostFailures || now() - answeredAt < answersWithinMs) return;
      isAway = true;
      onAway(error);
    },
    answeredAt: () => answeredAt,
  };
}
