-- sliding-log-list: so many in any window (t - window, t], each of cost 1 and without an id.
-- a      limit, window
-- key    a list of times, the newest first, never longer than the limit
-- facts  used, end of the newest entry, when the call would pass, 0
-- The same answers as sliding-log.lua. Entries whose time is over are dropped by the next charge.
twin("sliding-log-list", function()
  local looked = {}

  -- What is no number counts as long over.
  local function timeAt(key, i)
    return tonumber(call("LINDEX", key, i)) or -huge
  end

  -- The first index from `low` to `high` (newest first) whose time is not after `time`; `high` is not looked at.
  local function firstUpTo(key, time, low, high)
    while low < high do
      local middle = floor((low + high) / 2)
      if timeAt(key, middle) > time then
        low = middle + 1
      else
        high = middle
      end
    end
    return low
  end

  -- How many of a list whose tail is over are in the window. Seldom are many over: the search begins at the tail.
  local function countIn(key, length, edge)
    local step, low = 1, length - 2
    while low > 0 and timeAt(key, low) <= edge do
      step = step * 2
      low = low - step
    end
    return firstUpTo(key, edge, max(0, low), low + step)
  end

  local function look(a, key)
    local log = { used = 0, length = tryRead("LLEN", key) }
    if not log.length then
      log.foreign, log.length = true, 1
    elseif log.length > 0 then
      local newest = timeAt(key, 0)
      local edge = max(now, newest) - a[2]
      log.newest, log.foreign = newest, newest == -huge or newest - now > farAhead
      if newest > edge and not log.foreign then
        log.used = timeAt(key, -1) > edge and log.length or countIn(key, log.length, edge)
      end
    end
    return log
  end

  return {
    facts = 4,

    judge = function(a, key)
      local log = look(a, key)
      looked[key] = log
      local used, limit, passesAt = log.used, a[1], 0
      if used + 1 > limit then
        passesAt = limit < 1 and huge or timeAt(key, limit - 1) + a[2]
      end
      return used + 1 <= limit, used, used > 0 and log.newest + a[2] or 0, passesAt, 0
    end,

    charge = function(a, key)
      local log = looked[key]
      local time = now
      if log.used > 0 then
        time = max(now, log.newest)
      elseif log.length > 0 then
        if log.foreign then
          resets = resets + 1
        end
        call("DEL", key)
      end
      call("LPUSH", key, time)
      if log.used > 0 and log.length > log.used then
        call("LTRIM", key, 0, log.used)
      end
      call("PEXPIRE", key, ttl(time + a[2]))
    end,

    refund = function(a, key, _, cost, at, _, id)
      local log = look(a, key)
      if log.used == 0 or id then
        return
      end
      local from = now < log.newest and 0 or firstUpTo(key, at, 0, log.used)
      local count = min(floor(cost), log.used - from)
      if from == 0 then
        call("LTRIM", key, count, -1)
      else
        for _ = 1, count do
          call("LREM", key, 1, call("LINDEX", key, from))
        end
      end
    end,
  }
end)
