import type { CustomerRecord, Directory, DirectoryWatcher, ListEntry, ListName } from "tidegate";
import type { Database } from "./database.js";

const sweepEveryMs = 60_000;

interface KeptCustomer {
  readonly tier?: string;
  readonly limits?: readonly (readonly [number, number])[];
}

/** Lists and customers in the file. Entries that have ended are not listed, and are dropped by the next change a minute later. */
export function embeddedDirectory(database: Database, now: () => number): Directory & { close(): void } {
  const watchers = new Set<DirectoryWatcher>();
  let sweptAt = Number.NEGATIVE_INFINITY;

  function tell(news: (watcher: DirectoryWatcher) => void): void {
    for (const watcher of watchers) {
      try {
        news(watcher);
      } catch (error) {
        watcher.failed(error);
      }
    }
  }

  function sweep(): void {
    const time = now();
    if (time >= sweptAt && time - sweptAt < sweepEveryMs) return;
    database.run("DELETE FROM list_entries WHERE until <= ?", time);
    sweptAt = time;
  }

  function entries(list: ListName): ListEntry[] {
    return database
      .rows<{ entry: string }>(
        "SELECT entry FROM list_entries WHERE list = ? AND (until IS NULL OR until > ?)",
        list,
        now(),
      )
      .map(({ entry }) => JSON.parse(entry));
  }

  return {
    entries,
    put(list, { address, who, why, until }) {
      const entry: ListEntry = {
        address,
        ...(who !== undefined && { who }),
        ...(why !== undefined && { why }),
        ...(until !== undefined && Number.isFinite(until) && { until }),
      };
      database.transaction(() => {
        sweep();
        database.run(
          "INSERT OR REPLACE INTO list_entries (list, address, entry, until) VALUES (?, ?, ?, ?)",
          list,
          JSON.stringify(address),
          JSON.stringify(entry),
          entry.until ?? null,
        );
      });
      tell((watcher) => watcher.listed(list, entry));
    },
    remove(list, address) {
      const key = JSON.stringify(address);
      const kept = database.transaction(() => {
        const [row] = database.rows<{ until: number | null }>(
          "SELECT until FROM list_entries WHERE list = ? AND address = ?",
          list,
          key,
        );
        database.run("DELETE FROM list_entries WHERE list = ? AND address = ?", list, key);
        return row;
      });
      if (kept === undefined) return false;
      tell((watcher) => watcher.unlisted(list, address));
      return kept.until === null || kept.until > now();
    },
    customer(id) {
      const [row] = database.rows<{ record: string }>(
        "SELECT record FROM customers WHERE id = ?",
        JSON.stringify(id),
      );
      return row && recordOf(JSON.parse(row.record));
    },
    putCustomer(id, { tier, limits }) {
      const key = JSON.stringify(id);
      const record: KeptCustomer = {
        ...(tier !== undefined && { tier }),
        ...(limits !== undefined && limits.size > 0 && { limits: [...limits] }),
      };
      if (Object.keys(record).length === 0) database.run("DELETE FROM customers WHERE id = ?", key);
      else {
        const text = JSON.stringify(record);
        database.run("INSERT OR REPLACE INTO customers (id, record) VALUES (?, ?)", key, text);
      }
      tell((watcher) => watcher.customerChanged(id));
    },
    watch(watcher) {
      watchers.add(watcher);
      watcher.reset("safelist", entries("safelist"));
      watcher.reset("blocklist", entries("blocklist"));
      return () => void watchers.delete(watcher);
    },
    close: () => watchers.clear(),
  };
}

function recordOf({ tier, limits }: KeptCustomer): CustomerRecord {
  return { ...(tier !== undefined && { tier }), ...(limits !== undefined && { limits: new Map(limits) }) };
}
