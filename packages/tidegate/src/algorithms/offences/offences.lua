-- offences: counts refusals by the other limits of its rule and key, and holds the key when they make an offence.
-- a      after, within, forget, number of steps, then how long the first offence is held, the second, …
-- cells  end of the count, count, until when the ladder is remembered
-- The same arithmetic as offences.ts, in the same order.
twin("offences", function()
  return {
    slack = 0,

    step = function(a, now, cost, ends, count, remembered)
      return true, max(ends, remembered), ends, count, remembered
    end,

    offend = function(a, now, ends, count, remembered)
      local hold = 0
      if ends <= now then
        ends, count = now + a[2], 0
      end
      count = count + 1
      if count >= a[1] then
        local level = 0
        if remembered > now then
          level = math.ceil((remembered - now) / a[3] - 1e-9)
        end
        level = min(a[4] - 1, level)
        hold = now + a[5 + level]
        remembered = hold + a[3] * (level + 1)
        ends, count = 0, 0
      end
      return hold, max(ends, remembered), ends, count, remembered
    end,

    refund = function(a, now, cost, at, reset, ends, count, remembered)
      return ends, count, remembered
    end,
  }
end)
