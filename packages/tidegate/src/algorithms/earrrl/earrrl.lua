-- earrrl: refuses while the estimated recent rate is above the limit; counts refused hits too.
-- a      rate (per second), lambda (per millisecond), overage, so few hits are forgotten
-- cells  N (hits, decayed), T (time of the last hit)
-- The same arithmetic as earrrl.ts, in the same order.
twin("earrrl", function()
  --@step
  local slack = 0.25

  local function decayed(a, now, hits, last)
    local elapsed = now - last
    if elapsed > 0 then
      hits, last = hits * exp(-a[2] * elapsed), now
    end
    return (hits > a[4] or elapsed < 1000) and hits or 0, last
  end

  -- When so many hits at `last` are forgotten.
  local function ends(a, now, hits, last)
    return max(now + 1000, last + log(hits / a[4]) / a[2])
  end

  local function step(a, now, cost, hits, last)
    hits, last = decayed(a, now, hits, last)
    local charged = hits + cost
    return hits * (a[2] * 1000) <= a[1] * (1 + 1e-12), ends(a, now, charged, last), charged, last
  end
  --@end

  return {
    step = step,
    slack = slack,

    refund = function(a, now, cost, at, reset, hits, last)
      hits, last = decayed(a, now, hits, last)
      return max(0, hits - cost * exp(-a[2] * max(0, now - at))), last
    end,
  }
end)
