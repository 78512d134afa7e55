-- sliding-log: so much in any window (t - window, t], exactly.
-- a      limit, window
-- key    a sorted set. An entry has its time as score; its member is >I6dd sequence, sum of all before it, cost; then its
--        id, if it has one. Every id is a member of its own too, "i" and the id, with the score ids - sequence, far
--        below any time; from the first id on sequences are above withIds. The sum of a stretch is one subtraction: nothing here grows with the log, except a refund
--        out of its middle.
-- facts  used, end of the newest entry, when the call would pass, 1 if the id is charged already
-- The same arithmetic as log.ts, in the same order. Entries whose time is over are dropped by the next charge.
twin("sliding-log", function()
  local ids, format = -1e15, string.format
  local hair, withIds = 1e-9, 2 ^ 40
  -- What judge found, for the charge that may follow.
  local looked = {}

  local function above(score)
    return format("(%.17g", score)
  end

  -- Answers member and time of the entry of this rank.
  local function entryAt(key, rank)
    local found = call("ZRANGE", key, rank, rank, "WITHSCORES")
    return found[1], tonumber(found[2])
  end

  -- The log as it stands. `first` is the first entry still in the window, which never runs backwards.
  local function look(a, key)
    local log = { used = 0, exists = true }
    local last = tryRead("ZRANGE", key, -1, -1, "WITHSCORES")
    if not last then
      log.foreign = true
      return log
    end
    local member, newest = last[1], tonumber(last[2])
    if not member then
      log.exists = false
      return log
    end
    if newest <= ids then
      return log
    end
    if #member < 22 or newest - now > farAhead then
      log.foreign = true
      return log
    end
    local sequence, before, cost = parse(">I6dd", member)
    local edge = max(now, newest) - a[2]
    log.sequence, log.total, log.newest, log.edge = sequence, before + cost, newest, edge
    if newest <= edge then
      return log
    end
    local found = call("ZRANGEBYSCORE", key, above(edge), "+inf", "WITHSCORES", "LIMIT", 0, 1)
    if #found[1] < 22 then
      log.foreign = true
      return log
    end
    log.firstSequence, log.before, log.cost = parse(">I6dd", found[1])
    local used = log.total - log.before
    if not (used >= 0) then
      log.foreign = true
      return log
    end
    log.first, log.oldest, log.used = found[1], tonumber(found[2]), used
    return log
  end

  -- The sequence of the entry this id is charged with, if it is in the window.
  local function sequenceOf(key, log, id)
    local score = log.first and id and call("ZSCORE", key, "i" .. id)
    local sequence = score and ids - score
    return sequence and sequence >= log.firstSequence and sequence or nil
  end

  -- The rank of the first entry in the window for which the test holds, which it does for the last. Mostly it is one of
  -- the oldest: the search goes from there in growing steps, then closes in.
  local function search(key, log, test)
    local offset = call("ZRANK", key, log.first)
    local low, high, step = 0, call("ZCARD", key) - 1 - offset, 1
    while low < high do
      local at = step and min(low + step - 1, high - 1) or floor((low + high) / 2)
      if test(parse(">I6dd", (entryAt(key, offset + at)))) then
        high, step = at, nil
      else
        low, step = at + 1, step and step * 2
      end
    end
    return offset + low
  end

  local function passesAt(a, key, log, cost)
    if exceeds(cost, a[1]) then
      return huge
    end
    if not exceeds(log.total - (log.before + log.cost) + cost, a[1]) then
      return log.oldest + a[2]
    end
    local rank = search(key, log, function(_, before, own)
      return not exceeds(log.total - (before + own) + cost, a[1])
    end)
    local _, time = entryAt(key, rank)
    return time + a[2]
  end

  -- Sums anew from the entry of this rank on. Answers the sum of all.
  local function sumFrom(key, rank, before)
    local rest = call("ZRANGE", key, rank, -1, "WITHSCORES")
    for i = 1, #rest, 2 do
      local sequence, old, cost = parse(">I6dd", rest[i])
      if old ~= before then
        call("ZADD", key, rest[i + 1], pack(">I6dd", sequence, before, cost) .. sub(rest[i], 23))
        call("ZREM", key, rest[i])
      end
      before = before + cost
    end
    return before
  end

  -- Of the entries not later than `at`, the newest first. What was charged with an id is given back by its id only.
  local function giveBack(key, log, cost, at)
    local lowest, sum, left = nil, nil, cost
    local newest = call("ZCARD", key) - call("ZCOUNT", key, above(at), "+inf") - 1
    for rank = newest, call("ZRANK", key, log.first), -1 do
      if left <= cost * hair then
        break
      end
      local member, time = entryAt(key, rank)
      if #member == 22 then
        local sequence, before, own = parse(">I6dd", member)
        local rest = own * (1 - hair) > left and own - left
        lowest, sum = rank, before
        if rest and rest ~= own then
          call("ZADD", key, time, pack(">I6dd", sequence, before, rest))
        end
        if rest ~= own then
          call("ZREM", key, member)
        end
        left = left - own
      end
    end
    if lowest then
      sumFrom(key, lowest, sum)
    end
  end

  return {
    facts = 4,

    judge = function(a, key, _, cost, id)
      local log = look(a, key)
      looked[key] = log
      log.known = sequenceOf(key, log, id)
      local ends = log.first and log.newest + a[2] or 0
      if log.known then
        return true, log.used, ends, 0, 1
      elseif exceeds(log.used + cost, a[1]) then
        return false, log.used, ends, passesAt(a, key, log, cost), 0
      end
      return true, log.used, ends, 0, 0
    end,

    charge = function(a, key, _, cost, id)
      local log = looked[key]
      if log.known then
        return
      end
      local sequence, total, time = 1, 0, now
      if log.first then
        sequence, total, time = log.sequence + 1, log.total, max(now, log.newest)
        if call("ZREMRANGEBYSCORE", key, ids, log.edge) > 0 and sequence > withIds then
          call("ZREMRANGEBYSCORE", key, ids - log.firstSequence + 1, ids)
        end
      elseif log.exists then
        if log.foreign then
          resets = resets + 1
        end
        call("DEL", key)
      end
      if id and sequence < withIds then
        sequence = withIds
      end
      local sum = total + cost
      if sum > 9007199254740991 or (sum > a[1] * 1000 and floor(sum) ~= sum) then
        total = sumFrom(key, call("ZRANK", key, log.first), 0)
      end
      local member = pack(">I6dd", sequence, total, cost)
      if id then
        call("ZADD", key, time, member .. id, ids - sequence, "i" .. id)
      else
        call("ZADD", key, time, member)
      end
      call("PEXPIRE", key, ttl(time + a[2]))
    end,

    refund = function(a, key, _, cost, at, _, id)
      local log = look(a, key)
      if not log.first then
        return
      end
      if not id then
        return giveBack(key, log, cost, now < log.newest and log.newest or at)
      end
      local sequence = sequenceOf(key, log, id)
      if sequence then
        local rank = search(key, log, function(found)
          return found >= sequence
        end)
        local member = entryAt(key, rank)
        local _, before = parse(">I6dd", member)
        call("ZREM", key, member)
        sumFrom(key, rank, before)
        call("ZREM", key, "i" .. id)
      end
    end,
  }
end)
