import type { Limit } from "../../limit.js";

const tags = new WeakMap<Limit, number>();

/** Where a limit's entry is told apart in a packed state: 28 bits of a digest of its id, its cells in the upper four. */
export function tagOf(limit: Limit): number {
  let tag = tags.get(limit);
  if (tag === undefined) {
    let digest = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(limit.id)) digest = Math.imul(digest ^ byte, 0x01000193);
    tag = (((digest ^ (digest >>> 28)) & 0x0fffffff) | (limit.cells << 28)) >>> 0;
    tags.set(limit, tag);
  }
  return tag;
}
