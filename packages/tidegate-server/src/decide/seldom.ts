/** Does it at most once in so long, and says how often it was left out meanwhile. */
export function seldom<Args extends unknown[]>(
  everyMs: number,
  act: (leftOut: number) => (...args: Args) => void,
): (...args: Args) => void {
  let nextAt = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  return (...args) => {
    const now = performance.now();
    if (now < nextAt) {
      leftOut++;
      return;
    }
    nextAt = now + everyMs;
    act(leftOut)(...args);
    leftOut = 0;
  };
}
