import type { Directory } from "tidegate";
import type { RedisClient } from "tidegate/redis";
import type { Data } from "../data.js";
import { accessKeys } from "./redis/access-keys.js";
import { commandsOf, scriptsOf } from "./redis/commands.js";
import { controlEvents } from "./redis/control-events.js";
import { controlKeys } from "./redis/control-keys.js";
import { reachableDirectory } from "./redis/reachable-directory.js";
import { redisAudit } from "./redis/redis-audit.js";
import { redisClock } from "./redis/redis-clock.js";
import { redisEdgeBook } from "./redis/redis-edge-book.js";
import { redisLeases } from "./redis/redis-leases.js";
import { redisOffenders } from "./redis/redis-offenders.js";
import { redisPending } from "./redis/redis-pending.js";
import { redisPolicies } from "./redis/redis-policies.js";
import { redisSessions } from "./redis/redis-sessions.js";
import { redisTokens } from "./redis/redis-tokens.js";

export interface RedisDataOptions {
  /** A node-redis 5 or 6 client, single server or cluster. It stays the caller's to close. */
  readonly client: RedisClient;
  /** As the store's. */
  readonly prefix: string;
  /** Lists and customers: what the store's `openDirectory()` gives. Closed with the data. */
  readonly directory: Directory;
  /** Audit entries kept; older ones are dropped. Default 100,000. */
  readonly mostAudit?: number;
  /** Offenders kept; the mildest are dropped. Default 100,000, as many as the largest edge takes. */
  readonly mostOffenders?: number;
  /** Sessions kept; those that end soonest are dropped. Default 10,000. */
  readonly mostSessions?: number;
  /** For tests. Default the system's. */
  readonly clock?: () => number;
  /** For tests. Default Redis's own, by which all processes go. */
  readonly serverClock?: () => number;
  /** Told once of each outage that keeps a watcher from hearing of what is new, and of what others wrote over offenders and edges. */
  readonly onError?: (error: unknown) => void;
}

/** Data in Redis, beside the counts, for any number of processes. Opening it asks Redis nothing: it may be out of reach for now. */
export async function openRedisData(options: RedisDataOptions): Promise<Data> {
  const { client, prefix, mostAudit = 100_000, clock: now = Date.now, onError = () => {} } = options;
  const { mostOffenders: most, mostSessions = 10_000 } = options;
  const directory = reachableDirectory(options.directory);
  const send = commandsOf(client);
  const run = scriptsOf(client);
  const policies = redisPolicies({ send, prefix, now, onError });
  const keys = controlKeys(prefix);
  const events = controlEvents({ client, key: keys.events, onError });
  const access = { send, run, keys: accessKeys(prefix), now, onError };
  const clock = redisClock({ run, key: keys.held, now, serverClock: options.serverClock });
  const control = { send, run, keys, events, now, clock, onError };
  return {
    kind: "redis",
    directory,
    policies,
    audit: redisAudit({ send, prefix, now, most: mostAudit }),
    pending: redisPending({ send, prefix, now }),
    offenders: redisOffenders({ ...control, ...(most !== undefined && { most }) }),
    edgeBook: redisEdgeBook(control),
    leases: redisLeases(control),
    tokens: redisTokens(access),
    sessions: redisSessions({ ...access, most: mostSessions }),
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
