/** Milliseconds since the epoch; fractions are kept. Tests and replay hand in their own. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;
