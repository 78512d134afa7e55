import { scriptOf } from "./commands.js";

/**
 * KEYS: the lease, the last number given. ARGV: holder, for how many milliseconds. A lease is its number, a space and its
 * holder. Replies the number, or nil when somebody else has it. Numbers are above the server's time in milliseconds when they
 * were given, so that they grow even when Redis lost the last one.
 */
export const takeScript = scriptOf(`
local lease, fence = KEYS[1], KEYS[2]
local holder, forMs = ARGV[1], tonumber(ARGV[2])
local held = redis.call('GET', lease)
if held then
  local number, by = string.match(held, '^(%d+) (.*)$')
  if by ~= holder then return nil end
  redis.call('PEXPIRE', lease, forMs)
  return number
end
local time = redis.call('TIME')
local at = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local number = string.format('%.0f', math.max(at, (tonumber(redis.call('GET', fence) or '') or 0) + 1))
redis.call('SET', fence, number)
redis.call('SET', lease, number .. ' ' .. holder, 'PX', forMs)
return number
`);

/** KEYS: the lease. ARGV: holder. Only the holder's own is given up. */
export const giveUpScript = scriptOf(`
local held = redis.call('GET', KEYS[1])
if held and string.match(held, '^%d+ (.*)$') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`);

/** KEYS: the lease. Replies its holder, or nil when nobody has it. */
export const holderScript = scriptOf(`
local held = redis.call('GET', KEYS[1])
return held and string.match(held, '^%d+ (.*)$')
`);
