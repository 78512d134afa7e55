import type { Data } from "../data.js";
import { embeddedAudit } from "./embedded/embedded-audit.js";
import { embeddedDirectory } from "./embedded/embedded-directory.js";
import { embeddedEdgeBook } from "./embedded/embedded-edge-book.js";
import { embeddedOffenders } from "./embedded/embedded-offenders.js";
import { embeddedPending } from "./embedded/embedded-pending.js";
import { embeddedPolicies } from "./embedded/embedded-policies.js";
import { embeddedSessions } from "./embedded/embedded-sessions.js";
import { embeddedTokens } from "./embedded/embedded-tokens.js";
import { memoryLeases } from "./embedded/memory-leases.js";
import { openDatabaseFile } from "./embedded/open-database-file.js";

export interface EmbeddedDataOptions {
  /** Audit entries kept; older ones are dropped. Default 100,000. */
  readonly mostAudit?: number;
  /** Offenders kept; the mildest are dropped. Default 100,000, as many as the largest edge takes. */
  readonly mostOffenders?: number;
  /** Sessions kept; those that end soonest are dropped. Default 10,000. */
  readonly mostSessions?: number;
  /** For tests. Default the system's. */
  readonly clock?: () => number;
  /** Told of a watcher that throws. */
  readonly onError?: (error: unknown) => void;
}

/** Data in the file `tidegate.db` of this directory, for one process at a time. What was answered survives `kill -9`. */
export async function openEmbeddedData(dir: string, options: EmbeddedDataOptions = {}): Promise<Data> {
  const {
    mostAudit = 100_000,
    mostOffenders,
    mostSessions = 10_000,
    clock: now = Date.now,
    onError = () => {},
  } = options;
  const database = await openDatabaseFile(dir);
  const directory = embeddedDirectory(database, now);
  const policies = embeddedPolicies({ database, now, onError });
  const offenders = embeddedOffenders({
    database,
    now,
    onError,
    ...(mostOffenders !== undefined && { most: mostOffenders }),
  });
  const edgeBook = embeddedEdgeBook({ database, now, onError });
  return {
    kind: "embedded",
    directory,
    policies,
    audit: embeddedAudit({ database, now, most: mostAudit }),
    pending: embeddedPending(database, now),
    offenders,
    edgeBook,
    leases: memoryLeases(now),
    tokens: embeddedTokens(database, now),
    sessions: embeddedSessions({ database, now, most: mostSessions }),
    async putCustomers(records) {
      database.transaction(() => {
        for (const [id, record] of records) directory.putCustomer(id, record);
      });
    },
    async close() {
      directory.close();
      policies.close();
      offenders.close();
      edgeBook.close();
      database.close();
    },
  };
}
