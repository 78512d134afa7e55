/** The gate looks at no more of them. */
const mostWindows = 12;
const longestWindow = 315_360_000;

/** Own limits out of anything: window in seconds to limit. Says in words what is wrong with it. */
export function ownLimits(value: unknown): ReadonlyMap<number, number> | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "limits are no object";
  const entries = Object.entries(value);
  if (entries.length > mostWindows) return `there are more than ${mostWindows} windows`;
  const limits = new Map<number, number>();
  for (const [text, limit] of entries) {
    const seconds = Number(text);
    if (!(Number.isInteger(seconds) && seconds >= 1 && seconds <= longestWindow))
      return `${JSON.stringify(text.slice(0, 40))} is not a window in whole seconds`;
    if (!(Number.isSafeInteger(limit) && limit >= 0))
      return `the limit of window ${seconds} is not a whole number`;
    limits.set(seconds, limit);
  }
  return limits;
}
