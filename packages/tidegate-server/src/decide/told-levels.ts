import type { Decision, Verdict } from "tidegate";

/**
 * nginx takes an answer whose headers are longer than its buffer for none, and opens. As rendered the buffer has 16 kB; where
 * people wrote it themselves mostly 4.
 */
const mostBytes = 3_000;

/** The decision with as many of its levels to show as fit into headers: those that refuse, then those with the least left. */
export function withToldLevels(decision: Decision): Decision {
  const { exposed } = decision;
  if (exposed.reduce((sum, verdict) => sum + bytesOf(verdict), 0) <= mostBytes) return decision;
  const told: Verdict[] = [];
  let bytes = 0;
  for (const verdict of exposed.filter(({ shadow }) => !shadow).toSorted(tightestFirst)) {
    bytes += bytesOf(verdict);
    if (bytes > mostBytes && told.length > 0) break;
    told.push(verdict);
  }
  return { ...decision, exposed: told };
}

/** The one that speaks for the decision comes first. */
function tightestFirst(a: Verdict, b: Verdict): number {
  if (a.allowed !== b.allowed) return a.allowed ? 1 : -1;
  if (a.allowed) return a.remaining * b.limit - b.remaining * a.limit;
  return a.retryAfterMs === b.retryAfterMs ? 0 : b.retryAfterMs - a.retryAfterMs;
}

/** At most: `"name";q=…;w=…` and `"name";r=…;t=…`, whose numbers have up to 15 digits. */
function bytesOf({ name }: Verdict): number {
  return 2 * JSON.stringify(name).length + 76;
}
