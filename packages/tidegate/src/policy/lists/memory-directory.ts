import { type Clock, checkedClock, systemClock } from "../../clock.js";
import type { CustomerRecord, Directory, DirectoryWatcher, ListEntry, ListName } from "../../directory.js";
import { rejectUnknownOptions } from "../../limit.js";
import { blockText, parseBlock } from "../identity/address.js";
import { hasEnded } from "./address-set.js";

const firstSweep = 1024;

/** Lists and customers in this process, gone with it. Entries that have ended are not listed, and are dropped. */
export function memoryDirectory(options: { clock?: Clock } = {}): Directory {
  rejectUnknownOptions(options, ["clock"], "memoryDirectory");
  const now = checkedClock(options.clock ?? systemClock, "memoryDirectory.clock");
  const lists: Record<ListName, Map<string, ListEntry>> = { safelist: new Map(), blocklist: new Map() };
  const customers = new Map<string, CustomerRecord>();
  const watchers = new Set<DirectoryWatcher>();
  const sweepAt: Record<ListName, number> = { safelist: firstSweep, blocklist: firstSweep };

  function tell(news: (watcher: DirectoryWatcher) => void): void {
    for (const watcher of watchers) news(watcher);
  }

  function sweep(list: ListName): void {
    const time = now();
    for (const [address, entry] of lists[list]) if (hasEnded(entry, time)) lists[list].delete(address);
    sweepAt[list] = Math.max(firstSweep, lists[list].size * 2);
  }

  function entries(list: ListName): ListEntry[] {
    sweep(list);
    return [...lists[list].values()];
  }

  return {
    entries,
    put(list, entry) {
      const address = nameOf(entry.address);
      if (lists[list].size >= sweepAt[list]) sweep(list);
      const kept = { ...entry, address };
      lists[list].set(address, kept);
      tell((watcher) => watcher.listed(list, kept));
    },
    remove(list, text) {
      const address = nameOf(text);
      const entry = lists[list].get(address);
      if (entry === undefined) return false;
      lists[list].delete(address);
      tell((watcher) => watcher.unlisted(list, address));
      return !hasEnded(entry, now());
    },
    customer: (id) => customers.get(id),
    putCustomer(id, { tier, limits }) {
      const hasLimits = limits !== undefined && limits.size > 0;
      const record = { ...(tier !== undefined && { tier }), ...(hasLimits && { limits: new Map(limits) }) };
      if (tier === undefined && !hasLimits) customers.delete(id);
      else customers.set(id, record);
      tell((watcher) => watcher.customerChanged(id));
    },
    watch(watcher) {
      watchers.add(watcher);
      watcher.reset("safelist", entries("safelist"));
      watcher.reset("blocklist", entries("blocklist"));
      return () => watchers.delete(watcher);
    },
  };
}

/** Each block has one name, however it was written. What is no address is kept as it is: that is not for a directory to judge. */
function nameOf(text: string): string {
  const block = parseBlock(text);
  return block === undefined ? text : blockText(block.address, block.prefix);
}
