-- fixed-window: so many per window, aligned to the epoch or to the first hit.
-- a      limit, window, offset, from first hit (0/1)
-- cells  end of the window, count
-- The same arithmetic as fixed-window.ts, in the same order.
twin("fixed-window", function()
  --@step
  local slack = 0

  local function step(a, now, cost, ends, count)
    if ends <= now or count == 0 then
      if a[4] == 1 then
        ends = now + a[2]
      else
        ends = (floor((now - a[3]) / a[2]) + 1) * a[2] + a[3]
      end
      count = 0
    end
    local sum = count + cost
    return sum <= a[1] or not exceeds(sum, a[1]), ends, ends, sum
  end
  --@end

  return {
    step = step,
    slack = slack,

    refund = function(a, now, cost, at, reset, ends, count)
      if ends > now and at < ends and at >= ends - a[2] then
        count = max(0, count - cost)
      end
      return ends, count
    end,
  }
end)
