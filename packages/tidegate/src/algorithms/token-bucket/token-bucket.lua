-- token-bucket: `burst` tokens, refilled at `rate` per `per`; GCRA, kept as the tokens in use and the time of that.
-- a      burst, rate, per (milliseconds)
-- cells  level (tokens in use), time of the level
-- The same arithmetic as token-bucket.ts, in the same order.
twin("token-bucket", function()
  --@step
  local slack = 0.25

  local function drained(a, now, level, last)
    if now > last then
      return max(0, level - ((now - last) * a[2]) / a[3]), now
    end
    return level, last
  end

  -- When so many tokens in use at `last` are back. A rate made slower must not ask for more than an expiry can be.
  local function full(a, now, level, last)
    return min(now + 315360000000, max(now + 1, last + (level * a[3]) / a[2]))
  end

  local function step(a, now, cost, level, last)
    level, last = drained(a, now, level, last)
    local sum = level + cost
    return not exceeds(sum, a[1]), full(a, now, sum, last), sum, last
  end
  --@end

  return {
    step = step,
    slack = slack,

    refund = function(a, now, cost, at, reset, level, last)
      level, last = drained(a, now, level, last)
      local undrained = ((reset - (last - at)) * a[2]) / a[3]
      return max(0, level - min(cost, max(0, undrained))), last
    end,
  }
end)
