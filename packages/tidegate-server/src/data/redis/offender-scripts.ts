import { scriptOf } from "./commands.js";
import { serverTime } from "./redis-clock.js";

/**
 * Before each change. KEYS: held, ends, changes, ranks, events. The first four are made together, each with a mark that keeps it
 * in being while it is empty; should Redis lose one of them, all are begun anew, and `#complete` is gone with them. All times are
 * Redis's own.
 */
const opening = `
local held, ends, changes, ranks, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
${serverTime}
if redis.call('EXISTS', held, ends, changes, ranks) < 4 then
  redis.call('UNLINK', held, ends, changes, ranks)
  redis.call('HSET', held, '#born', time[1] .. '.' .. time[2], '#rev', '0', '#floor', '0', '#dropped', '0')
  redis.call('ZADD', ends, '+inf', '#')
  redis.call('ZADD', changes, '+inf', '#')
  redis.call('ZADD', ranks, '+inf', '#')
end
local function rankOf(id, ending)
  return string.format('%020.4f', ending) .. ' ' .. id
end
local function forgetEnd(id)
  local ending = tonumber(redis.call('ZSCORE', ends, id) or '')
  if ending then redis.call('ZREM', ranks, rankOf(id, ending)) end
  redis.call('ZREM', ends, id)
end
local function changed(id)
  redis.call('ZADD', changes, redis.call('HINCRBY', held, '#rev', 1), id)
end
local function tell()
  redis.call('XADD', events, 'MAXLEN', '~', '10000', '*', 'k', 'o')
  redis.call('PEXPIRE', events, 86400000)
end
`;

/**
 * Adds offenders, or more about those known. KEYS as above. ARGV: time, most, and of each: id, until, crossedAt, score, leaked, facts
 * (JSON). A record is `until crossedAt score leaked toldUntil toldScore`, a line break, and the facts. Ended ones are dropped, at most
 * 200 each time; beyond `most` the mildest, of equals whoever is released soonest. Replies of each 1 when the edges have to know, else
 * 0. Its twin is mergeOffender.
 */
export const addScript = scriptOf(`${opening}
local most = tonumber(ARGV[2])
local function add(id, ending, crossed, score, leaked, facts)
  local toldUntil, toldScore, isNews = ending, score, true
  local known = redis.call('HGET', held, id)
  if known then
    local u, c, _, l, tu, ts = string.match(known, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)\\n')
    u, c, l, tu, ts = tonumber(u or ''), tonumber(c or ''), tonumber(l or ''), tonumber(tu or ''), tonumber(ts or '')
    if u and c and l and tu and ts and u > now then
      ending, crossed, leaked = math.max(u, ending), math.min(c, crossed), math.max(l, leaked)
      isNews = ending - tu > math.min(1000, 0.05 * (tu - now)) or score > 2 * ts
      if isNews then toldUntil, toldScore = ending, score else toldUntil, toldScore = tu, ts end
    end
    forgetEnd(id)
  end
  local numbers = string.format('%.17g %.17g %.17g %.17g %.17g %.17g', ending, crossed, score, leaked, toldUntil, toldScore)
  redis.call('HSET', held, id, numbers .. '\\n' .. facts)
  redis.call('ZADD', ranks, string.format('%.17g', score), rankOf(id, ending))
  redis.call('ZADD', ends, string.format('%.17g', ending), id)
  changed(id)
  return isNews and 1 or 0
end
local news, isAny = {}, false
for i = 3, #ARGV, 6 do
  local isNews = add(ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4]), ARGV[i + 5])
  news[#news + 1] = isNews
  isAny = isAny or isNews == 1
end
local ended = redis.call('ZRANGEBYSCORE', ends, '-inf', string.format('%.17g', now), 'LIMIT', 0, 200)
if #ended > 0 then
  for _, each in ipairs(ended) do forgetEnd(each) end
  redis.call('HDEL', held, unpack(ended))
  redis.call('ZREM', changes, unpack(ended))
end
while redis.call('ZCARD', ends) > most + 1 do
  local rank = redis.call('ZPOPMIN', ranks)[1]
  if rank == '#' then redis.call('DEL', ranks) break end
  local mildest = string.sub(rank, string.find(rank, ' ', 1, true) + 1)
  redis.call('ZREM', ends, mildest)
  redis.call('HDEL', held, mildest)
  redis.call('HINCRBY', held, '#dropped', 1)
  changed(mildest)
end
local old = redis.call('ZCARD', changes) - 1 - 2 * most
if old > 0 then
  local last = redis.call('ZRANGE', changes, old - 1, old - 1, 'WITHSCORES')
  redis.call('HSET', held, '#floor', last[2])
  redis.call('ZREMRANGEBYRANK', changes, 0, old - 1)
end
if isAny then tell() end
return news
`);

/** Drops offenders. KEYS as above. ARGV: time, ids. Replies the record of each, or nil. */
export const removeScript = scriptOf(`${opening}
local records, isAny = {}, false
for i = 2, #ARGV do
  local id = ARGV[i]
  local record = redis.call('HGET', held, id)
  records[i - 1] = record
  if record then
    isAny = true
    redis.call('HDEL', held, id)
    forgetEnd(id)
    changed(id)
  end
end
if isAny then tell() end
return records
`);

/** KEYS as above. ARGV: time. All that stands at the edges is known here from now on. */
export const completeScript = scriptOf(`${opening}
redis.call('HSET', held, '#complete', '1')
return 1
`);

/**
 * What changed since the reader last looked. KEYS: held, changes. ARGV: #born and #rev as the reader knows them. Replies
 * born, rev, 1 when all follow or 0 when only what changed does, id and record (nil: gone) in turn, and how many were dropped for want of
 * room. Nothing there: nil.
 */
export const lookScript = scriptOf(`
local held, changes = KEYS[1], KEYS[2]
local known = tonumber(ARGV[2])
local meta = redis.call('HMGET', held, '#born', '#rev', '#floor', '#dropped')
local rev, floor = tonumber(meta[2] or ''), tonumber(meta[3] or '')
if not meta[1] or not rev or not floor then return nil end
if meta[1] == ARGV[1] and known >= floor and known <= rev then
  local ids = redis.call('ZRANGEBYSCORE', changes, '(' .. known, rev, 'LIMIT', 0, 2001)
  if #ids <= 2000 then
    local found = {}
    for i, id in ipairs(ids) do
      found[2 * i - 1] = id
      found[2 * i] = redis.call('HGET', held, id)
    end
    return { meta[1], meta[2], 0, found, meta[4] }
  end
end
return { meta[1], meta[2], 1, redis.call('HGETALL', held), meta[4] }
`);
