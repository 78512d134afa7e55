import { setTimeout as sleep } from "node:timers/promises";
import type { Directory, DirectoryWatcher, ListEntry } from "../../packages/tidegate/src/directory.js";

/** What a watcher was told, as it stands now. */
export interface Picture {
  readonly safelist: ReadonlyMap<string, ListEntry>;
  readonly blocklist: ReadonlyMap<string, ListEntry>;
  /** Customers said to have changed; `undefined` stands for all of them. */
  readonly customers: readonly (string | undefined)[];
  readonly failures: readonly unknown[];
  readonly resets: number;
  stop(): void;
}

export function pictureOf(directory: Directory): Picture {
  const lists = { safelist: new Map<string, ListEntry>(), blocklist: new Map<string, ListEntry>() };
  const customers: (string | undefined)[] = [];
  const failures: unknown[] = [];
  let resets = 0;
  const watcher: DirectoryWatcher = {
    reset(list, entries) {
      resets++;
      lists[list].clear();
      for (const entry of entries) lists[list].set(entry.address, entry);
    },
    listed: (list, entry) => lists[list].set(entry.address, entry),
    unlisted: (list, address) => lists[list].delete(address),
    customerChanged: (id) => customers.push(id),
    failed: (error) => failures.push(error),
  };
  const stop = directory.watch(watcher);
  return {
    ...lists,
    customers,
    failures,
    stop,
    get resets() {
      return resets;
    },
  };
}

const turnMs = 10;

/** Holds within the second that a change by anyone may take. Counted in turns, so that a machine too busy to give us ours costs nothing. */
export async function soon(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await holds()); turns++) {
    if (turns * turnMs >= 1000) throw new Error(`waited 1 s for ${what}`);
    await sleep(turnMs);
  }
}
