import { type PolicyVersion, type PolicyVersions, policyDigest } from "../../data.js";
import { listeners } from "../listeners.js";
import { pageOf } from "../page.js";
import type { Database } from "./database.js";

interface Row {
  readonly version: string;
}

export interface EmbeddedPoliciesOptions {
  readonly database: Database;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/** Nobody else writes here, so whoever watches is told as soon as one is added. */
export function embeddedPolicies(options: EmbeddedPoliciesOptions): PolicyVersions & { close(): void } {
  const { database, now, onError } = options;
  const watchers = listeners<PolicyVersion>(onError);

  return {
    newest: async () =>
      versionOf(database.rows<Row>("SELECT version FROM policy_versions ORDER BY id DESC LIMIT 1")),
    get: async (id) => versionOf(database.rows<Row>("SELECT version FROM policy_versions WHERE id = ?", id)),
    async list(page) {
      const { most, before } = pageOf(page);
      return database
        .rows<Row>("SELECT version FROM policy_versions WHERE id < ? ORDER BY id DESC LIMIT ?", before, most)
        .map(({ version }) => JSON.parse(version));
    },
    newestFrom: async (source) =>
      versionOf(
        database.rows<Row>(
          "SELECT version FROM policy_versions WHERE source = ? ORDER BY id DESC LIMIT 1",
          source,
        ),
      ),
    async add({ text, who, source, why }, after) {
      const added = database.transaction(() => {
        const [newest] = database.rows<{ id: number | null }>("SELECT max(id) AS id FROM policy_versions");
        if ((newest?.id ?? undefined) !== after) return undefined;
        const version: PolicyVersion = {
          id: (after ?? 0) + 1,
          text,
          digest: policyDigest(text),
          at: now(),
          who,
          source,
          ...(why !== undefined && { why }),
        };
        database.run(
          "INSERT INTO policy_versions (id, source, version) VALUES (?, ?, ?)",
          version.id,
          source,
          JSON.stringify(version),
        );
        return version;
      });
      if (added !== undefined) watchers.tell(added);
      return added;
    },
    watch: (listener) => watchers.add(listener),
    close: () => watchers.clear(),
  };
}

function versionOf([row]: readonly Row[]): PolicyVersion | undefined {
  return row && JSON.parse(row.version);
}
