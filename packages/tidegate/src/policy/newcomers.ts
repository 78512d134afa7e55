import { ConfigError, shown } from "../errors.js";
import { KeyHash } from "../key-hash.js";

export interface NewcomerCapOptions {
  /** New keys one address block may bring per second. */
  perSecond: number;
  /** Blocks whose newcomers are counted at the same time, at least. Default 4096. */
  blocks?: number;
  /** Keys remembered, at least. Default 65,536, in 0.6 MB. */
  keys?: number;
}

/** Keeps one source from filling the store with fresh identities. */
export interface NewcomerCap {
  /**
   * Whether this key may be counted on its own: it was seen lately, or its block has brought fewer than `perSecond`
   * new ones in this second of the clock. If not, count the request under the block's key.
   */
  admit(block: string, key: string, now: number): boolean;
}

/** A key not seen for so many seconds, of the clock or against it, is new again. */
const rememberedFor = 600;

/** Slots in which one hash may stand. */
const ways = 8;

/**
 * Memory is fixed, whatever comes: two tables of seeded hashes, sets of 8 slots each.
 *
 * - A key gives way to a newer one in the order: forgotten, seen in one second only, seen in several; the longest
 *   unseen first. So fresh identities wash out each other, not clients that come back; and one block, even if all its
 *   keys come back, needs about `keys / perSecond` seconds (65 by default) to wash out a client silent meanwhile.
 *   A client washed out is merely new again.
 * - A block's count gives way to another's when it is the lowest of its set: an innocent block may get a fresh
 *   allowance, a flooding one does not.
 * - A new key is taken for a known one, and admitted uncounted, once in 500 million (8 in 2^32).
 */
export function newcomerCap({ perSecond, blocks = 4096, keys = 65_536 }: NewcomerCapOptions): NewcomerCap {
  validateCount("perSecond", perSecond);
  validateCount("blocks", blocks);
  validateCount("keys", keys);
  const hash = new KeyHash();
  const known = knownKeys(keys);
  const newcomers = blockCounts(blocks);

  return {
    admit(block, key, now) {
      const second = Math.floor(now / 1000) >>> 0;
      hash.of(key);
      const { low, high } = hash;
      if (known.see(low, high, second)) return true;
      hash.of(block);
      if (newcomers.add(hash.low, hash.high, second) > perSecond) return false;
      known.remember(low, high, second);
      return true;
    },
  };
}

/** Keys by the low half of their hash, in the set their high half names. */
function knownKeys(least: number) {
  const { slots, setOf } = sets(least);
  const tags = new Int32Array(slots);
  const seenAt = new Uint32Array(slots);
  /** 0 = empty, 1 = seen in one second only, 2 = came back. */
  const standing = new Uint8Array(slots);
  const isForgotten = (at: number, second: number) =>
    standing[at] === 0 || Math.abs(second - (seenAt[at] as number)) > rememberedFor;

  /** The lowest goes first. */
  function worth(at: number, second: number): number {
    if (isForgotten(at, second)) return Number.NEGATIVE_INFINITY;
    const silence = Math.abs(second - (seenAt[at] as number));
    return standing[at] === 2 ? rememberedFor - silence : -silence;
  }

  return {
    see(low: number, high: number, second: number): boolean {
      const first = setOf(high);
      for (let at = first; at < first + ways; at++) {
        if (tags[at] !== low || isForgotten(at, second)) continue;
        if (seenAt[at] !== second) {
          seenAt[at] = second;
          standing[at] = 2;
        }
        return true;
      }
      return false;
    },

    remember(low: number, high: number, second: number): void {
      const first = setOf(high);
      let victim = first;
      let lowest = Number.POSITIVE_INFINITY;
      for (let at = first; at < first + ways; at++) {
        const own = worth(at, second);
        if (own < lowest) {
          lowest = own;
          victim = at;
        }
      }
      tags[victim] = low;
      seenAt[victim] = second;
      standing[victim] = 1;
    },
  };
}

/** How many newcomers each block asked for in the second it was last seen in. */
function blockCounts(least: number) {
  const { slots, setOf } = sets(least);
  const tags = new Int32Array(slots);
  const countedIn = new Uint32Array(slots);
  const counts = new Uint32Array(slots);
  const countAt = (at: number, second: number) => (countedIn[at] === second ? (counts[at] as number) : 0);

  return {
    /** Counts one more, and answers how many there are now. */
    add(low: number, high: number, second: number): number {
      const first = setOf(high);
      let at = first;
      for (let other = first; other < first + ways; other++) {
        if (tags[other] === low) {
          at = other;
          break;
        }
        if (countAt(other, second) < countAt(at, second)) at = other;
      }
      const count = tags[at] === low ? countAt(at, second) + 1 : 1;
      tags[at] = low;
      countedIn[at] = second;
      counts[at] = count;
      return count;
    },
  };
}

/** As many sets, a power of two, as hold at least so many slots. */
function sets(least: number): { slots: number; setOf: (hash: number) => number } {
  const count = 2 ** Math.ceil(Math.log2(Math.max(1, least / ways)));
  return { slots: count * ways, setOf: (hash) => (hash & (count - 1)) * ways };
}

function validateCount(option: keyof NewcomerCapOptions, value: unknown): void {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 2 ** 24) return;
  throw new ConfigError(
    "TG_NEWCOMERS",
    `newcomerCap.${option}`,
    `${shown(value)} can not be used here.`,
    "Give a whole number from 1 to 16,777,216.",
  );
}
