/** An EARRRL limit in numbers: calls per second, seconds, and what a refused call weighs (default 1). */
export interface EarrrlNumbers {
  readonly rate: number;
  readonly halfLife: number;
  readonly overage?: number;
}

/** How fast the past fades, per second. One call raises the estimate by so much. */
export function lambdaOf(halfLife: number): number {
  return Math.LN2 / halfLife;
}

export interface SteadyTraffic {
  /** Calls per second. */
  readonly perSecond: number;
  readonly halfLife: number;
  readonly from: number;
  readonly to: number;
}

/** The estimate of a client that calls steadily, at a time, before the call of that instant: λ·e^(−λ·since)·(1 − qⁿ)/(1 − q). */
export function steadyEstimate({ perSecond, halfLife, from, to }: SteadyTraffic, at: number): number {
  const calls = Math.ceil(Math.max(0, Math.min(at, to) - from) * perSecond - 1e-9);
  if (calls === 0) return 0;
  const lambda = lambdaOf(halfLife);
  const sinceLast = at - (from + (calls - 1) / perSecond);
  const x = lambda / perSecond;
  return (lambda * Math.exp(-lambda * sinceLast) * Math.expm1(-x * calls)) / Math.expm1(-x);
}

/** Between which two lines a steady rate is read, for ever: λ apart, the true rate between them. */
export function steadyBand(
  perSecond: number,
  halfLife: number,
): { readonly low: number; readonly high: number } {
  const lambda = lambdaOf(halfLife);
  const high = lambda / -Math.expm1(-lambda / perSecond);
  return { low: high - lambda, high };
}

/** How many calls pass at once from a client at rest. */
export function burstLetThrough({ rate, halfLife }: EarrrlNumbers): number {
  return Math.floor((rate / lambdaOf(halfLife)) * (1 + 1e-12)) + 1;
}

/** How many calls of a client that begins to call steadily pass before the first is refused. */
export function graceCalls(perSecond: number, { rate, halfLife }: EarrrlNumbers): number {
  if (perSecond <= allPassUpTo({ rate, halfLife })) return Number.POSITIVE_INFINITY;
  const x = lambdaOf(halfLife) / perSecond;
  const share = (rate * Math.expm1(x)) / lambdaOf(halfLife);
  return Math.floor(-Math.log1p(-share) / x + 1e-9) + 1;
}

/**
 * How long a client must be silent, after a long time at a steady rate, until it is let in: about
 * halfLife · log2(overage · perSecond / rate) for one that is locked out; at most so long for one that sometimes passes; 0 for one that always does.
 */
export function silenceNeeded(perSecond: number, limit: EarrrlNumbers): number {
  const { rate, halfLife, overage = 1 } = limit;
  if (perSecond <= allPassUpTo(limit)) return 0;
  const highest =
    perSecond >= lockedOutAbove(limit)
      ? overage * steadyBand(perSecond, halfLife).high
      : rate + lambdaOf(halfLife);
  return halfLife * Math.log2(highest / rate);
}

/** Up to this steady rate every call passes: about rate + λ/2. */
export function allPassUpTo({ rate, halfLife }: EarrrlNumbers): number {
  const lambda = lambdaOf(halfLife);
  return lambda / Math.log1p(lambda / rate);
}

/** Above this steady rate a client is locked out for as long as it goes on: about rate / overage + λ/2. */
export function lockedOutAbove({ rate, halfLife, overage = 1 }: EarrrlNumbers): number {
  const lambda = lambdaOf(halfLife);
  return overage === 0 ? Number.POSITIVE_INFINITY : lambda / Math.log1p((overage * lambda) / rate);
}

/** The share of a steady client's calls that passes in the long run, 0 to 1, to within 1 − e^(−λ/perSecond). */
export function sharePassing(perSecond: number, limit: EarrrlNumbers): number {
  const { rate, halfLife, overage = 1 } = limit;
  if (perSecond <= allPassUpTo(limit)) return 1;
  if (perSecond >= lockedOutAbove(limit)) return 0;
  const lambda = lambdaOf(halfLife);
  const m = (rate * Math.expm1(lambda / perSecond)) / lambda;
  return Math.min(1, Math.max(0, (m - overage) / (1 - overage)));
}
