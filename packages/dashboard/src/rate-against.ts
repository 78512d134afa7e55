/** Of a client, second by second. */
export interface Seconds {
  readonly from: number;
  readonly stepMs: number;
  readonly requests: readonly number[];
  readonly refused: readonly number[];
}

export interface RateAgainst {
  readonly times: readonly number[];
  /** Within so long before each of them. */
  readonly stepMs: number;
  readonly requests: readonly number[];
  readonly refused: readonly number[];
  /** What the limit allows in so long, on average. */
  readonly against: number | undefined;
}

const longestMs = 60_000;

/** Sums over the limit's own window, of long ones over a minute: what can be compared with the limit. */
export function rateAgainst(
  { from, stepMs, requests, refused }: Seconds,
  limit: { readonly limit: number; readonly windowMs: number } | undefined,
): RateAgainst {
  const wantedMs = Math.min(limit?.windowMs ?? longestMs, longestMs);
  const steps = Math.max(1, Math.round(wantedMs / stepMs));
  const windowMs = steps * stepMs;
  return {
    times: requests.map((_, i) => from + i * stepMs),
    stepMs: windowMs,
    requests: sums(requests, steps),
    refused: sums(refused, steps),
    against: limit && (limit.limit * windowMs) / limit.windowMs,
  };
}

function sums(values: readonly number[], steps: number): number[] {
  let sum = 0;
  return values.map((value, i) => {
    sum += value - (values[i - steps] ?? 0);
    return sum;
  });
}
