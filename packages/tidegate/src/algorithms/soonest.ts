/**
 * The first whole millisecond from now at which a call passes, at least 1. A closed form gives two guesses, with and
 * without the tolerance of `exceeds`, each right but for rounding; `passesAfter` is the algorithm itself.
 */
export function soonest(
  tolerantMs: number,
  strictMs: number,
  passesAfter: (waitMs: number) => boolean,
): number {
  for (const guess of [tolerantMs, strictMs]) {
    const wait = Math.max(1, Math.ceil(guess));
    if (wait > 1 && passesAfter(wait - 1)) return wait - 1;
    if (passesAfter(wait)) return wait;
    if (passesAfter(wait + 1)) return wait + 1;
  }
  return Math.max(1, Math.ceil(strictMs));
}

/** Whole units left, never negative. A hair less than a whole is a whole: 10 - 2.0000000000000004 leaves 8. */
export function wholeLeft(used: number, limit: number): number {
  return Math.max(0, Math.floor(limit - used + Math.min(limit * 1e-9, 1e-3)));
}
