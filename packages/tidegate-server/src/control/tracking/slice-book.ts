import type { Counted, Slice } from "./slice.js";

/** All slices of a process, by what they are counted under. */
export interface SliceBook<About> {
  size(): number;
  of(counted: Counted): Slice<About> | undefined;
  add(slice: Slice<About>): void;
  /** Looks at so many, where it stopped last, and takes out those of them that nobody needs any more. */
  weed(count: number, isNeeded: (slice: Slice<About>) => boolean): Slice<About>[];
  /** Takes out so many, or all. */
  take(most?: number): Slice<About>[];
}

export function sliceBook<About>(): SliceBook<About> {
  const byRule = new Map<string, Map<string, Slice<About>>>();
  const slices: Slice<About>[] = [];
  /** How far they were looked through. */
  let lookedAt = 0;

  function forget({ checks: [first] }: Slice<About>): void {
    const { rule, key } = first as Counted;
    byRule.get(rule)?.delete(key);
  }

  return {
    size: () => slices.length,
    of: ({ rule, key }) => byRule.get(rule)?.get(key),
    add(slice) {
      const { rule, key } = slice.checks[0] as Counted;
      const ofRule = byRule.get(rule);
      if (ofRule === undefined) byRule.set(rule, new Map([[key, slice]]));
      else ofRule.set(key, slice);
      slices.push(slice);
    },
    weed(count, isNeeded) {
      const weeds: Slice<About>[] = [];
      for (let left = Math.min(slices.length, count); left > 0; left--) {
        if (lookedAt >= slices.length) lookedAt = 0;
        const slice = slices[lookedAt] as Slice<About>;
        if (isNeeded(slice)) lookedAt++;
        else {
          slices[lookedAt] = slices.at(-1) as Slice<About>;
          slices.pop();
          forget(slice);
          weeds.push(slice);
        }
      }
      return weeds;
    },
    take(most = slices.length) {
      const taken = slices.splice(0, most);
      for (const slice of taken) forget(slice);
      return taken;
    },
  };
}
