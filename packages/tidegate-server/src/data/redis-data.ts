import type { Directory } from "tidegate";
import type { RedisClient } from "tidegate/redis";
import type { Data } from "../data.js";
import { commandsOf } from "./redis/commands.js";
import { reachableDirectory } from "./redis/reachable-directory.js";
import { redisAudit } from "./redis/redis-audit.js";
import { redisPending } from "./redis/redis-pending.js";
import { redisPolicies } from "./redis/redis-policies.js";

export interface RedisDataOptions {
  /** A node-redis 5 or 6 client, single server or cluster. It stays the caller's to close. */
  readonly client: RedisClient;
  /** As the store's. */
  readonly prefix: string;
  /** Lists and customers: what the store's `openDirectory()` gives. Closed with the data. */
  readonly directory: Directory;
  /** Audit entries kept; older ones are dropped. Default 100,000. */
  readonly mostAudit?: number;
  /** For tests. Default the system's. */
  readonly clock?: () => number;
  /** Told once of each outage that keeps a watcher from hearing of new policies. It is sat out. */
  readonly onError?: (error: unknown) => void;
}

/** Data in Redis, beside the counts, for any number of processes. Opening it asks Redis nothing: it may be out of reach for now. */
export async function openRedisData(options: RedisDataOptions): Promise<Data> {
  const { client, prefix, mostAudit = 100_000, clock: now = Date.now, onError = () => {} } = options;
  const directory = reachableDirectory(options.directory);
  const send = commandsOf(client);
  const policies = redisPolicies({ send, prefix, now, onError });
  return {
    kind: "redis",
    directory,
    policies,
    audit: redisAudit({ send, prefix, now, most: mostAudit }),
    pending: redisPending({ send, prefix, now }),
    async putCustomers(records) {
      await Promise.all(records.map(([id, record]) => directory.putCustomer(id, record)));
    },
    async close() {
      policies.close();
      await directory.close?.();
    },
  };
}
