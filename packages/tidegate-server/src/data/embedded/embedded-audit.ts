import type { AuditEntry, AuditLog } from "../../data.js";
import { pageOf } from "../page.js";
import type { Database } from "./database.js";

export interface EmbeddedAuditOptions {
  readonly database: Database;
  readonly now: () => number;
  /** Older ones are dropped. */
  readonly most: number;
}

export function embeddedAudit({ database, now, most: mostKept }: EmbeddedAuditOptions): AuditLog {
  return {
    async add(entry) {
      const at = now();
      const text = JSON.stringify({ ...entry, at });
      const id = database.transaction(() => {
        const added = database.run("INSERT INTO audit (entry) VALUES (?)", text).id;
        database.run("DELETE FROM audit WHERE id <= ?", added - mostKept);
        return added;
      });
      return { ...JSON.parse(text), id };
    },
    async list(page) {
      const { most, before } = pageOf(page);
      return database
        .rows<{ id: number; entry: string }>(
          "SELECT id, entry FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?",
          before,
          most,
        )
        .map(({ id, entry }): AuditEntry => ({ ...JSON.parse(entry), id }));
    },
  };
}
