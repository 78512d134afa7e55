import type { Directory, Gate, ListEntry } from "tidegate";
import { type OverlapTest, overlapTest } from "./address-overlap.js";
import { memo } from "./memo.js";

/** Whether somebody of the safelist is meant by an address, or is in a block. */
export interface Safelisted {
  readonly has: OverlapTest;
  close(): void;
}

export interface SafelistedOptions {
  readonly gate: Pick<Gate, "policy" | "safelist">;
  readonly directory: Pick<Directory, "watch">;
  readonly clock?: () => number;
}

/** A block that nobody changed is looked through again after this: entries end. */
const againMs = 1_000;

/** By the lists as they are now: the policy's own, and the one people change. */
export function openSafelisted({ gate, directory, clock = Date.now }: SafelistedOptions): Safelisted {
  const listed = new Map<string, ListEntry>();
  let named: readonly string[] | undefined;
  let isNamed: OverlapTest = () => false;
  let isInside: OverlapTest = () => false;
  let builtAt = Number.NEGATIVE_INFINITY;

  function change(work: () => void): void {
    work();
    builtAt = Number.NEGATIVE_INFINITY;
  }

  const stop = directory.watch({
    reset: (list, entries) =>
      change(() => {
        if (list !== "safelist") return;
        listed.clear();
        for (const entry of entries) listed.set(entry.address, entry);
      }),
    listed: (list, entry) => change(() => list === "safelist" && listed.set(entry.address, entry)),
    unlisted: (list, address) => change(() => list === "safelist" && listed.delete(address)),
    customerChanged() {},
    failed() {},
  });

  function overlapsListed(block: string): boolean {
    const at = performance.now();
    if (at - builtAt >= againMs) {
      const now = clock();
      const inForce = [...listed.values()].filter(({ until }) => until === undefined || until > now);
      isInside = memo(overlapTest(inForce.map(({ address }) => address)));
      builtAt = at;
    }
    return isInside(block);
  }

  return {
    has(address) {
      const { safelist = [] } = gate.policy;
      if (safelist !== named) {
        named = safelist;
        isNamed = overlapTest(safelist);
      }
      if (isNamed(address)) return true;
      return address.includes("/") ? overlapsListed(address) : gate.safelist.find(address) !== undefined;
    },
    close: stop,
  };
}
