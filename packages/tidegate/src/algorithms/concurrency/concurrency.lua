-- concurrency: so many slots taken at the same time, each until it is released or its lease ends.
-- a      limit, length of a lease
-- key    a sorted set, one member per slot, its score the lease's end. The member is the lease's id, then >I3 number of
--        the slot within the lease, from 1. A lease nobody named has the id >BdI3 0, when it was taken, a number.
-- facts  slots taken, the last lease's end, when the call would pass, 1 if its id holds a lease
-- The same answers as leases.ts. Leases that ended are dropped by the next charge.
twin("concurrency", function()
  local looked = {}

  local function slot(id, i)
    return id .. pack(">I3", i)
  end

  local function look(key, id)
    local leases = { used = 0, ended = tryRead("ZCOUNT", key, "-inf", now), count = 0 }
    if not leases.ended then
      leases.foreign = true
      return leases
    end
    leases.count = call("ZCARD", key)
    leases.used = leases.count - leases.ended
    if leases.used > 0 then
      leases.last = tonumber(call("ZRANGE", key, -1, -1, "WITHSCORES")[2])
      if leases.last - now > farAhead then
        return { used = 0, count = 0, foreign = true }
      end
      local ends = id and call("ZSCORE", key, slot(id, 1))
      leases.ends = ends and tonumber(ends) > now and tonumber(ends)
    end
    return leases
  end

  local function take(key, id, ends, count)
    for i = 1, count do
      call("ZADD", key, ends, slot(id, i))
    end
  end

  local function renew(key, id, ends)
    local i = 1
    while call("ZADD", key, "XX", "CH", ends, slot(id, i)) == 1 do
      i = i + 1
    end
  end

  -- An id for a lease nobody named. There may be others of this instant.
  local function unnamed(key, n)
    while true do
      local id = pack(">BdI3", 0, now, n)
      if not call("ZSCORE", key, slot(id, 1)) then
        return id
      end
      n = n + 1
    end
  end

  return {
    facts = 4,

    judge = function(a, key, _, cost, id)
      local leases = look(key, id)
      looked[key] = leases
      local used, last, missing = leases.used, leases.last or 0, leases.used + cost - a[1]
      if leases.ends then
        return true, used, last, 0, 1
      elseif missing <= 0 then
        return true, used, last, 0, 0
      elseif cost > a[1] then
        return false, used, last, huge, 0
      end
      local rank = leases.ended + missing - 1
      return false, used, last, tonumber(call("ZRANGE", key, rank, rank, "WITHSCORES")[2]), 0
    end,

    charge = function(a, key, _, cost, id)
      local leases, ends = looked[key], now + a[2]
      if leases.foreign then
        resets = resets + 1
        call("DEL", key)
      elseif leases.ended > 0 then
        call("ZREMRANGEBYSCORE", key, "-inf", now)
      end
      if leases.ends then
        if ends > leases.ends then
          renew(key, id, ends)
        end
      else
        take(key, id or unnamed(key, leases.count), ends, cost)
      end
      call("PEXPIRE", key, ttl(max(ends, leases.last or 0)))
    end,

    refund = function(_, key, _, cost, _, _, id)
      local leases = look(key)
      if leases.foreign then
        return
      end
      if id then
        local i = 1
        while call("ZREM", key, slot(id, i)) == 1 do
          i = i + 1
        end
      elseif leases.used > 0 and cost >= 1 then
        call("ZREMRANGEBYRANK", key, -min(floor(cost), leases.used), -1)
      end
    end,
  }
end)
