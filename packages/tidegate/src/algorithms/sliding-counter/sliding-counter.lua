-- sliding-counter: so many per sliding window, estimated from this window's count and the last one's.
-- a      limit, window
-- cells  start of the window, its count, the count of the window before
-- The same arithmetic as sliding-counter.ts, in the same order.
twin("sliding-counter", function()
  --@step
  local slack = 0

  local function rolled(window, now, start, current, previous)
    if now < start + window then
      return start, current, previous
    end
    if now < start + 2 * window then
      return start + window, 0, current
    end
    return floor(now / window) * window, 0, 0
  end

  local function step(a, now, cost, start, current, previous)
    local window = a[2]
    start, current, previous = rolled(window, now, start, current, previous)
    local used = current + (previous * (window - max(0, now - start))) / window
    return not exceeds(used + cost, a[1]), start + 2 * window, start, current + cost, previous
  end
  --@end

  return {
    step = step,
    slack = slack,

    refund = function(a, now, cost, at, reset, start, current, previous)
      local window = a[2]
      start, current, previous = rolled(window, now, start, current, previous)
      if at >= start and at < start + window then
        current = max(0, current - cost)
      elseif at < start and at >= start - window then
        previous = max(0, previous - cost)
      end
      return start, current, previous
    end,
  }
end)
