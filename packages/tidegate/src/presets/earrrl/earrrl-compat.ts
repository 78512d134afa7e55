import { validateKey } from "../../check.js";
import { StoreError } from "../../errors.js";
import { rejectUnknownOptions } from "../../limit.js";
import { connectionTo, type RedisClient } from "../../stores/redis/connection.js";
import { redisScript } from "../redis-script.js";
import { earrrlScript } from "./earrrl-script.js";

export interface EarrrlCompatOptions {
  /** ioredis 5/6 or node-redis 5/6. On a cluster a key needs a hash tag, `{user}`, so that N and T live together. */
  client: RedisClient;
}

/** As `EVALSHA` replies: 1 when limited, and the estimate before this hit in requests per second. */
export type EarrrlReply = [limited: 1 | null, estimate: string];

/**
 * Runs the printed script on the printed keys, for services that share them. Its faults come along: keys without expiry, a
 * clock set back bans, corrupt state stays corrupt. `earrrl({ rate: 0.5, halfLife: "10s" })` on a `redisStore` has none of them.
 */
export function earrrlCompat(options: EarrrlCompatOptions): (key: string) => Promise<EarrrlReply> {
  rejectUnknownOptions(options, ["client"], "earrrlCompat");
  const run = redisScript(connectionTo(options.client), earrrlScript);
  return async (key) => {
    validateKey(key);
    return replyOf(await run(key));
  };
}

function replyOf(reply: unknown): EarrrlReply {
  if (!Array.isArray(reply) || reply.length !== 2) throw strange();
  const [limited, estimate] = reply as [unknown, unknown];
  return [limited === null ? null : 1, String(estimate)];
}

function strange(): StoreError {
  return new StoreError(
    "TG_STORE_REPLY",
    "redis",
    "the script's reply is not the printed script's.",
    "Something between Tidegate and Redis changes replies.",
    { transient: false },
  );
}
