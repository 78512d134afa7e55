import type { Offender, Offenders } from "../../offenders.js";
import type { Database } from "./database.js";
import { type MemoryOffendersOptions, memoryOffenders } from "./memory-offenders.js";

export interface EmbeddedOffendersOptions extends MemoryOffendersOptions {
  readonly database: Database;
}

/** So long after a change the file knows it too: a crossing waits for no disk. */
const saveAfterMs = 1_000;

/**
 * Who is held, in this process and, a second later, in the file: so that after a restart it is known whom an entry at an edge
 * is about. What was not written in time is taken in from the edges, for `isComplete` says so at each start.
 */
export function embeddedOffenders(options: EmbeddedOffendersOptions): Offenders & { close(): void } {
  const { database, now = Date.now, onError = () => {} } = options;
  const held = memoryOffenders({ ...options, from: load() });
  const unsaved = new Map<string, Offender>();
  let timer: NodeJS.Timeout | undefined;

  function load(): Offender[] {
    database.run("DELETE FROM offenders WHERE until <= ?", now());
    return database
      .rows<{ offender: string }>("SELECT offender FROM offenders")
      .map(({ offender }): Offender => JSON.parse(offender));
  }

  function save(): void {
    timer = undefined;
    const changed = [...unsaved];
    unsaved.clear();
    try {
      database.transaction(() => {
        database.run("DELETE FROM offenders WHERE until <= ?", now());
        for (const [id, offender] of changed)
          database.run(
            "INSERT OR REPLACE INTO offenders (id, key, offender, until) VALUES (?, ?, ?, ?)",
            id,
            offender.key,
            JSON.stringify(offender),
            offender.until,
          );
      });
    } catch (error) {
      onError(error);
    }
  }

  return {
    ...held,
    async add(offender) {
      const isNews = await held.add(offender);
      unsaved.set(JSON.stringify([offender.rule, offender.key]), offender);
      timer ??= setTimeout(save, saveAfterMs).unref();
      return isNews;
    },
    async remove(keys) {
      const removed = await held.remove(keys);
      const gone = new Set(keys);
      for (const [id, { key }] of unsaved) if (gone.has(key)) unsaved.delete(id);
      database.transaction(() => {
        for (const key of gone) database.run("DELETE FROM offenders WHERE key = ?", key);
      });
      return removed;
    },
    close() {
      clearTimeout(timer);
      if (unsaved.size > 0) save();
      held.close();
    },
  };
}
