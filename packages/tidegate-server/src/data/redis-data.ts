import type { Directory } from "tidegate";
import type { RedisClient } from "tidegate/redis";
import type { Data } from "../data.js";
import { commandsOf, scriptsOf } from "./redis/commands.js";
import { controlEvents } from "./redis/control-events.js";
import { controlKeys } from "./redis/control-keys.js";
import { reachableDirectory } from "./redis/reachable-directory.js";
import { redisAudit } from "./redis/redis-audit.js";
import { redisEdgeBook } from "./redis/redis-edge-book.js";
import { redisLeases } from "./redis/redis-leases.js";
import { redisOffenders } from "./redis/redis-offenders.js";
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
  /** Offenders kept; those released soonest are dropped. Default 20,000. */
  readonly mostOffenders?: number;
  /** For tests. Default the system's. */
  readonly clock?: () => number;
  /** Told once of each outage that keeps a watcher from hearing of what is new, and of what others wrote over offenders and edges. */
  readonly onError?: (error: unknown) => void;
}

/** Data in Redis, beside the counts, for any number of processes. Opening it asks Redis nothing: it may be out of reach for now. */
export async function openRedisData(options: RedisDataOptions): Promise<Data> {
  const { client, prefix, mostAudit = 100_000, clock: now = Date.now, onError = () => {} } = options;
  const { mostOffenders: most } = options;
  const directory = reachableDirectory(options.directory);
  const send = commandsOf(client);
  const run = scriptsOf(client);
  const policies = redisPolicies({ send, prefix, now, onError });
  const keys = controlKeys(prefix);
  const events = controlEvents({ client, key: keys.events, onError });
  const control = { send, run, keys, events, now, onError };
  return {
    kind: "redis",
    directory,
    policies,
    audit: redisAudit({ send, prefix, now, most: mostAudit }),
    pending: redisPending({ send, prefix, now }),
    offenders: redisOffenders({ ...control, ...(most !== undefined && { most }) }),
    edgeBook: redisEdgeBook(control),
    leases: redisLeases(control),
    async putCustomers(records) {
      await Promise.all(records.map(([id, record]) => directory.putCustomer(id, record)));
    },
    async close() {
      policies.close();
      events.close();
      await directory.close?.();
    },
  };
}
