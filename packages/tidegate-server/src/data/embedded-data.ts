import type { Data } from "../data.js";
import { embeddedAudit } from "./embedded/embedded-audit.js";
import { embeddedDirectory } from "./embedded/embedded-directory.js";
import { embeddedEdgeBook } from "./embedded/embedded-edge-book.js";
import { embeddedPending } from "./embedded/embedded-pending.js";
import { embeddedPolicies } from "./embedded/embedded-policies.js";
import { memoryLeases } from "./embedded/memory-leases.js";
import { memoryOffenders } from "./embedded/memory-offenders.js";
import { openDatabaseFile } from "./embedded/open-database-file.js";

export interface EmbeddedDataOptions {
  /** Audit entries kept; older ones are dropped. Default 100,000. */
  readonly mostAudit?: number;
  /** Offenders kept; those released soonest are dropped. Default 20,000. */
  readonly mostOffenders?: number;
  /** For tests. Default the system's. */
  readonly clock?: () => number;
  /** Told of a watcher that throws. */
  readonly onError?: (error: unknown) => void;
}

/** Data in the file `tidegate.db` of this directory, for one process at a time. What was answered survives `kill -9`. */
export async function openEmbeddedData(dir: string, options: EmbeddedDataOptions = {}): Promise<Data> {
  const { mostAudit = 100_000, mostOffenders, clock: now = Date.now, onError = () => {} } = options;
  const database = await openDatabaseFile(dir);
  const directory = embeddedDirectory(database, now);
  const policies = embeddedPolicies({ database, now, onError });
  const offenders = memoryOffenders({
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
