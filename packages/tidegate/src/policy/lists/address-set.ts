import type { ListEntry } from "../../directory.js";
import { type Address, type Block, blockCovers } from "../identity/address.js";
import { blockHash } from "./block-hash.js";

/** List entries by the blocks they are about. A lookup costs one step per prefix length in use, however many entries. */
export interface AddressSet {
  /** Adds an entry, or replaces that of this block and spelling. Told the time, it drops what has ended once in a while. */
  add(block: Block, entry: ListEntry, now?: number): void;
  /** Answers whether there was one. A block goes with its last spelling. */
  remove(block: Block, spelling: string): boolean;
  /** How the entries of this block are written. */
  spellings(block: Block): string[];
  /** The entry in force of the smallest block that covers this address. What has ended is dropped when met. */
  find(address: Address, now: number): ListEntry | undefined;
  clear(): void;
  /** Entries kept, of which some may have ended. */
  readonly size: number;
}

/** What is listed of one block. Those of the same hash hang together. */
interface Link {
  readonly block: Block;
  /** The one in force longest. */
  readonly entry: ListEntry;
  /** Those of the same block in other spellings, nearly always none. */
  readonly others: readonly ListEntry[];
  next: Link | undefined;
}

/** All blocks of one version and prefix length. */
interface Level {
  readonly prefix: number;
  readonly links: Map<number, Link>;
}

const firstSweep = 1024;

export function addressSet(): AddressSet {
  /** By version, longest prefix first. */
  const levels: Record<4 | 6, Level[]> = { 4: [], 6: [] };
  let size = 0;
  let sweepAt = firstSweep;

  function levelOf({ address, prefix }: Block): Level | undefined {
    return levels[address.version].find((level) => level.prefix === prefix);
  }

  function newLevel({ address, prefix }: Block): Level {
    const level: Level = { prefix, links: new Map() };
    levels[address.version].push(level);
    levels[address.version].sort((one, other) => other.prefix - one.prefix);
    return level;
  }

  function drop(block: Block): boolean {
    const level = levelOf(block);
    if (level === undefined || !unlink(level.links, block)) return false;
    size--;
    if (level.links.size === 0) {
      const { version } = block.address;
      levels[version] = levels[version].filter((each) => each !== level);
    }
    return true;
  }

  function entriesOf(block: Block): readonly ListEntry[] {
    let link = levelOf(block)?.links.get(blockHash(block.address, block.prefix));
    while (link !== undefined && !blockCovers(link.block, block.address)) link = link.next;
    return link === undefined ? none : [link.entry, ...link.others];
  }

  function put(block: Block, entries: readonly ListEntry[]): void {
    drop(block);
    const { links } = levelOf(block) ?? newLevel(block);
    const hash = blockHash(block.address, block.prefix);
    const entry = entries.reduce((one, other) => (endOf(other) >= endOf(one) ? other : one));
    const others = entries.length === 1 ? none : entries.filter((each) => each !== entry);
    links.set(hash, { block, entry, others, next: links.get(hash) });
    size++;
  }

  function smallest(address: Address): Link | undefined {
    for (const { prefix, links } of levels[address.version]) {
      let link = links.get(blockHash(address, prefix));
      while (link !== undefined && !blockCovers(link.block, address)) link = link.next;
      if (link !== undefined) return link;
    }
    return undefined;
  }

  /** Comes round only after the set has doubled, so that it adds little to each `add`. */
  function sweep(now: number): void {
    for (const { links } of [...levels[4], ...levels[6]]) {
      for (const first of [...links.values()]) {
        for (let link: Link | undefined = first; link; link = link.next) {
          if (hasEnded(link.entry, now)) drop(link.block);
        }
      }
    }
    sweepAt = Math.max(firstSweep, size * 2);
  }

  return {
    add(block, entry, now) {
      if (now !== undefined && size >= sweepAt) sweep(now);
      put(block, [...entriesOf(block).filter(({ address }) => address !== entry.address), entry]);
    },
    remove(block, spelling) {
      const entries = entriesOf(block);
      const left = entries.filter(({ address }) => address !== spelling);
      if (left.length === entries.length) return false;
      if (left.length > 0) put(block, left);
      else drop(block);
      return true;
    },
    spellings: (block) => entriesOf(block).map(({ address }) => address),
    find(address, now) {
      let link = smallest(address);
      while (link !== undefined && hasEnded(link.entry, now)) {
        drop(link.block);
        link = smallest(address);
      }
      return link?.entry;
    },
    clear() {
      levels[4] = [];
      levels[6] = [];
      size = 0;
      sweepAt = firstSweep;
    },
    get size() {
      return size;
    },
  };
}

const none: readonly ListEntry[] = [];

function endOf({ until }: ListEntry): number {
  return until ?? Number.POSITIVE_INFINITY;
}

/** The first moment an entry is no longer in force is its `until`. */
export function hasEnded({ until }: ListEntry, now: number): boolean {
  return until !== undefined && until <= now;
}

function unlink(links: Map<number, Link>, { address, prefix }: Block): boolean {
  const hash = blockHash(address, prefix);
  let previous: Link | undefined;
  let link = links.get(hash);
  // All blocks of a level are equally large, so the one that covers the network is the network itself.
  while (link !== undefined && !blockCovers(link.block, address)) {
    previous = link;
    link = link.next;
  }
  if (link === undefined) return false;
  if (previous !== undefined) previous.next = link.next;
  else if (link.next !== undefined) links.set(hash, link.next);
  else links.delete(hash);
  return true;
}
