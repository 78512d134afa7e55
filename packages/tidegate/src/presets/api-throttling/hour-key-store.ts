import { createHash } from "node:crypto";
import { type Check, costOf, levelName } from "../../check.js";
import type { Clock } from "../../clock.js";
import type { Verdict } from "../../decision.js";
import type { Store } from "../../store.js";
import { connectionTo, type RedisClient } from "../../stores/redis/connection.js";
import { redisScript } from "../redis-script.js";
import { restOfHourMs } from "./hour.js";

/**
 * KEYS[1] is the cache key, ARGV[1] its life in ms if it has none yet. Replies the count and what is left of its life, or
 * nil when the key holds something else, which is left alone.
 */
const incrementScript = `local count = redis.pcall('INCR', KEYS[1])
if type(count) == 'table' then
  if string.find(count.err, 'WRONGTYPE', 1, true) or string.find(count.err, 'not an integer', 1, true) then return false end
  return count
end
local life = redis.call('PTTL', KEYS[1])
if life < 0 then
  life = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], life)
end
return {count, life}`;

/** Clocks of servers differ, and who looks at a key after its hour should still find it. */
const marginMs = 60_000;
const longestKey = 256;

/**
 * Counts as the printed middleware did: a plain number under the very key, one round trip. It can only decide, which is
 * all the middleware asks. A key that holds something else counts nobody: refusing or resetting would harm its owner.
 */
export function hourKeyStore(client: RedisClient, clock: Clock): Store {
  const increment = redisScript(connectionTo(client), incrementScript);

  async function judge(check: Check): Promise<Verdict> {
    const now = clock();
    const lifeMs = Math.ceil(restOfHourMs(now) + marginMs);
    const reply = (await increment(redisKey(check.key), String(lifeMs))) as [number, number] | null;
    if (reply === null) return verdict(check, now, 0, 0);
    const [count, leftMs] = reply.map(Number) as [number, number];
    return verdict(check, now, count, leftMs);
  }

  return { decide: (checks) => Promise.all(checks.map(judge)) } as Store;
}

function verdict(check: Check, now: number, count: number, leftMs: number): Verdict {
  const { rule, key, limit } = check;
  const allowed = count <= limit.limit;
  return {
    rule,
    name: check.name ?? levelName(rule, limit),
    key,
    allowed,
    shadow: false,
    cost: costOf(check),
    limit: limit.limit,
    windowMs: limit.windowMs,
    remaining: Math.max(0, limit.limit - count),
    resetAfterMs: leftMs,
    retryAfterMs: allowed ? 0 : leftMs,
    at: now,
    source: "store",
  };
}

/** Whoever claims a very long name costs Redis no more than others. */
function redisKey(key: string): string {
  return key.length <= longestKey ? key : createHash("sha256").update(key).digest("hex");
}
