import type { ClearedKey, EdgeBook, SetMode } from "../../data.js";
import { listeners } from "../listeners.js";
import type { Database } from "./database.js";

export interface EmbeddedEdgeBookOptions {
  readonly database: Database;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/** What people decided is in the file; reports are of this process, and end with it. */
export function embeddedEdgeBook(options: EmbeddedEdgeBookOptions): EdgeBook & { close(): void } {
  const { database, now, onError } = options;
  const watchers = listeners<void>(onError);
  const reports = new Map<string, unknown>();
  return {
    async modes() {
      const rows = database.rows<{ edge: string; mode: string }>("SELECT edge, mode FROM edge_modes");
      return new Map(rows.map(({ edge, mode }): [string, SetMode] => [JSON.parse(edge), JSON.parse(mode)]));
    },
    async setMode(edge, { mode, who, why }) {
      const set: SetMode = { mode, who, ...(why !== undefined && { why }), at: now() };
      database.run(
        "INSERT OR REPLACE INTO edge_modes (edge, mode) VALUES (?, ?)",
        JSON.stringify(edge),
        JSON.stringify(set),
      );
      watchers.tell();
      return set;
    },
    async clears() {
      return database
        .rows<{ entry: string }>("SELECT entry FROM cleared_keys WHERE until > ?", now())
        .map(({ entry }): ClearedKey => JSON.parse(entry));
    },
    async addClears(keys, { until, who, isClient }) {
      if (keys.length === 0) return;
      const at = now();
      database.transaction(() => {
        database.run("DELETE FROM cleared_keys WHERE until <= ?", at);
        for (const key of keys)
          database.run(
            "INSERT OR REPLACE INTO cleared_keys (key, entry, until) VALUES (?, ?, ?)",
            JSON.stringify(key),
            JSON.stringify({ key, until, who, at, ...(isClient && { isClient }) } satisfies ClearedKey),
            until,
          );
      });
      watchers.tell();
    },
    reports: async () => new Map(reports),
    async report(edge, report) {
      reports.set(edge, report);
    },
    async stops() {
      const rows = database.rows<{ edge: string; stop: string }>("SELECT edge, stop FROM edge_stops");
      return new Map(rows.map(({ edge, stop }): [string, unknown] => [JSON.parse(edge), JSON.parse(stop)]));
    },
    async setStop(edge, stop) {
      const name = JSON.stringify(edge);
      if (stop === undefined) database.run("DELETE FROM edge_stops WHERE edge = ?", name);
      else
        database.run(
          "INSERT OR REPLACE INTO edge_stops (edge, stop) VALUES (?, ?)",
          name,
          JSON.stringify(stop),
        );
    },
    watch: (listener) => watchers.add(listener),
    close: () => watchers.clear(),
  };
}
