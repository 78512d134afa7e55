import { scriptOf } from "./commands.js";
import { serverTime } from "./redis-clock.js";

const tell = `
redis.call('XADD', KEYS[1], 'MAXLEN', '~', '10000', '*', 'k', 'b')
redis.call('PEXPIRE', KEYS[1], 86400000)
return 1
`;

/** KEYS: events, modes. ARGV: edge, mode (JSON). */
export const setModeScript = scriptOf(`
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
${tell}`);

/**
 * KEYS: events, clears, their ends. ARGV: time, until, the most that are kept, then key and entry (JSON) in turn. Ended ones are
 * dropped, and beyond the most those that end soonest; both keys end with the last of them.
 */
export const addClearsScript = scriptOf(`
local clears, ends = KEYS[2], KEYS[3]
${serverTime}
local till, most = ARGV[2], tonumber(ARGV[3])
local function drop(keys)
  for _, key in ipairs(keys) do
    redis.call('HDEL', clears, key)
    redis.call('ZREM', ends, key)
  end
end
drop(redis.call('ZRANGEBYSCORE', ends, '-inf', string.format('%.17g', now)))
for i = 4, #ARGV, 2 do
  redis.call('HSET', clears, ARGV[i], ARGV[i + 1])
  redis.call('ZADD', ends, till, ARGV[i])
end
local over = redis.call('ZCARD', ends) - most
if over > 0 then drop(redis.call('ZRANGE', ends, 0, over - 1)) end
local last = redis.call('ZRANGE', ends, -1, -1, 'WITHSCORES')[2]
if last then
  local left = math.max(1, math.ceil(tonumber(last) - now))
  redis.call('PEXPIRE', clears, string.format('%.0f', left))
  redis.call('PEXPIRE', ends, string.format('%.0f', left))
end
${tell}`);

/** KEYS: reports. ARGV: edge, report (JSON), how long it is kept at least. */
export const reportScript = scriptOf(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
`);
