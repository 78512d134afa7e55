import type { Hold } from "../hold.js";

/** What several processes have seen, as one: of the same rule and key the longest; longest first. */
export function longestOf(holds: readonly Hold[]): Hold[] {
  const longest = new Map<string, Hold>();
  for (const hold of holds) {
    const name = `${hold.rule}\n${hold.key}`;
    const known = longest.get(name);
    const since = Math.min(hold.since, known?.since ?? hold.since);
    longest.set(name, { ...(known !== undefined && known.until > hold.until ? known : hold), since });
  }
  return [...longest.values()].sort((one, other) => other.until - one.until);
}
