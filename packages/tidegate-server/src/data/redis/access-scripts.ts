import { scriptOf } from "./commands.js";

/** KEYS: tokens, names. ARGV: digest, name, token (JSON). Replies 1, or 0 when the name or the digest is taken. */
export const addTokenScript = scriptOf(`
local digest, name, token = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HEXISTS', KEYS[1], digest) == 1 then return 0 end
local other = redis.call('HGET', KEYS[2], name)
if other and redis.call('HEXISTS', KEYS[1], other) == 1 then return 0 end
redis.call('HSET', KEYS[1], digest, token)
redis.call('HSET', KEYS[2], name, digest)
return 1
`);

/** KEYS: tokens, names, used. ARGV: digest, name, id. Replies 1, or 0 when somebody else was faster. */
export const revokeTokenScript = scriptOf(`
local digest, name, id = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HGET', KEYS[2], name) == digest then redis.call('HDEL', KEYS[2], name) end
redis.call('HDEL', KEYS[3], id)
return redis.call('HDEL', KEYS[1], digest)
`);

/** KEYS: tokens, used. ARGV: digest, id, at. Of a token that is gone nothing is kept. */
export const touchTokenScript = scriptOf(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
`);

/**
 * KEYS: sessions, their ends. ARGV: now, digest, session (JSON), until, the most that are kept. Ended ones are dropped, and
 * beyond the most those that end soonest; both keys end with the last of them.
 */
export const addSessionScript = scriptOf(`
local sessions, ends = KEYS[1], KEYS[2]
local now, digest, session, till, most = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local function drop(digests)
  for _, each in ipairs(digests) do
    redis.call('HDEL', sessions, each)
    redis.call('ZREM', ends, each)
  end
end
drop(redis.call('ZRANGEBYSCORE', ends, '-inf', now))
redis.call('HSET', sessions, digest, session)
redis.call('ZADD', ends, till, digest)
local over = redis.call('ZCARD', ends) - most
if over > 0 then drop(redis.call('ZRANGE', ends, 0, over - 1)) end
local last = redis.call('ZRANGE', ends, -1, -1, 'WITHSCORES')[2]
if last then
  local left = string.format('%.0f', math.max(1, math.ceil(tonumber(last) - tonumber(now))))
  redis.call('PEXPIRE', sessions, left)
  redis.call('PEXPIRE', ends, left)
end
return 1
`);

/** KEYS: sessions, their ends. ARGV: digests. Replies what each was, in their order. */
export const removeSessionsScript = scriptOf(`
local were = {}
for i, digest in ipairs(ARGV) do
  were[i] = redis.call('HGET', KEYS[1], digest)
  redis.call('HDEL', KEYS[1], digest)
  redis.call('ZREM', KEYS[2], digest)
end
return were
`);
