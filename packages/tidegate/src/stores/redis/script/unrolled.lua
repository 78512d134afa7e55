-- The commonest questions, as fast as Lua goes: no table is made for a request. The assembler writes both functions out
-- for N = 1, 2, 3: what stands between @each and @end once per limit with its number for #, @{…} as a list with one item
-- per limit, @and{…}, @or{…} and @plus{…} likewise, @cells{…} as @{…} less its first item, $# as the limit's bit in the reply.

-- One rule with N limits of two cells each (or one of three).
unrolledLimits[N] = function(count, shape)
  local plan, cost, shadow = shape[1].plan, shape[1].cost, shape[1].shadow
  local format, size = plan.format, plan.size
  -- The same without hold, end and first tag.
  local cellsFormat = "<" .. sub(format, 6)
  --@each
  local step#, a#, tag#, slack#, counts# = plan[#].step, plan[#].args, plan[#].tag, plan[#].slack, plan[#].countsRefused
  --@end
  local KEYS, states, reply, r, now, isDistinct, bitsText, parse = KEYS, states, reply, replied, now, isDistinct, bitsText, parse
  for keyed = keyAt, keyAt + count - 1 do
    local at = isDistinct and keyed or placeOf(KEYS[keyed], keyed)
    local state, held, ends, carried = states[at], 0, 0, ""
    local isInPlace = state ~= false
    --@each
    local t#, c#1, c#2, c#3 = tag#, 0, 0, 0
    --@end
    if state then
      if #state == size then
        held, ends, @{t#, c#1, c#2}, c13 = parse(format, state)
      end
      if #state ~= size or @or{t# ~= tag#} or (held + ends + @plus{c#1 + c#2}) * 0 ~= 0 then
        local s
        s, carried = load(at, plan)
        held, ends, isInPlace = s[1], s[2], false
        --@each
        c#1, c#2, c#3 = s[plan[#].at], s[plan[#].at + 1], s[plan[#].at + 2]
        --@end
        state = states[at] and pack(format, unpack(s, 1, plan.width))
      end
    end
    local bits = state and 1 or 0
    --@each
    local ok#, e#, y#1, y#2, y#3, f#, n#1, n#2, n#3 = step#(a#, now, cost, c#1, c#2, c#3)
    ok# = ok# and held <= now
    if ok# then
      bits = bits + $#
    end
    --@end
    reply[r + 1] = bitsText[bits] or textOf(bits)
    r = r + 1
    if state then
      r = r + 1
      reply[r] = state
    end
    if not dry then
      local passes, isChanged, moved = shadow or @and{ok#}, false, false
      --@each
      if passes and ok# then
        isChanged, c#1, c#2, c#3 = true, y#1, y#2, y#3
        if e# > ends then
          moved, ends = true, e# + (e# - now) * slack#
        end
      elseif counts# then
        isChanged, c#1, c#2, c#3 = true, n#1, n#2, n#3
        if f# > ends then
          moved, ends = true, f# + (f# - now) * slack#
        end
      end
      --@end
      if isChanged and isDistinct and not moved and isInPlace then
        -- Only the cells differ: what stands before them stays, the key's expiry too.
        call("SETRANGE", KEYS[at], "20", pack(cellsFormat, @cells{tag#, c#1, c#2}, c13))
      elseif isChanged then
        keep(at, pack(format, held, ends, @{tag#, c#1, c#2}, c13) .. carried, moved and ends)
      end
    end
  end
  keyAt, replied = keyAt + count, r
end

-- N rules with one limit of two cells each, every rule with a key of its own.
unrolledRules[N] = function(count, shape)
  --@each
  local plan#, cost#, shadow# = shape[#].plan, shape[#].cost, shape[#].shadow
  local format#, size#, limit# = plan#.format, plan#.size, plan#[1]
  local step#, a#, tag#, slack#, counts# = limit#.step, limit#.args, limit#.tag, limit#.slack, limit#.countsRefused
  --@end
  local KEYS, states, reply, r, now, isDistinct, parse, at = KEYS, states, reply, replied, now, isDistinct, parse, keyAt
  for _ = 1, count do
    local passes = true
    --@each
    local at#, held#, ends#, t#, c#1, c#2, carried# = isDistinct and at or placeOf(KEYS[at], at), 0, 0, tag#, 0, 0, ""
    at = at + 1
    local state# = states[at#]
    local isInPlace# = state# ~= false
    if state# then
      if #state# == size# then
        held#, ends#, t#, c#1, c#2 = parse(format#, state#)
      end
      if #state# ~= size# or t# ~= tag# or (held# + ends# + c#1 + c#2) * 0 ~= 0 then
        local s
        s, carried# = load(at#, plan#)
        held#, ends#, c#1, c#2, isInPlace# = s[1], s[2], s[4], s[5], false
        state# = states[at#] and pack(format#, held#, ends#, tag#, c#1, c#2)
      end
    end
    local ok#, e#, y#1, y#2, _, f#, n#1, n#2 = step#(a#, now, cost#, c#1, c#2)
    ok# = ok# and held# <= now
    passes = passes and (ok# or shadow#)
    reply[r + 1] = ok# and (state# and bits3 or bits2) or (state# and bits1 or bits0)
    r = r + 1
    if state# then
      r = r + 1
      reply[r] = state#
    end
    --@end
    if not dry then
      --@each
      local go# = passes and ok#
      if go# or counts# then
        if not go# then
          y#1, y#2, e# = n#1, n#2, f#
        end
        local moved# = e# > ends#
        if isDistinct and not moved# and isInPlace# then
          call("SETRANGE", KEYS[at#], "20", pack("<dd", y#1, y#2))
        else
          if moved# then
            ends# = e# + (e# - now) * slack#
          end
          keep(at#, pack(format#, held#, ends#, tag#, y#1, y#2) .. carried#, moved# and ends#)
        end
      end
      --@end
    end
  end
  keyAt, replied = at, r
end
