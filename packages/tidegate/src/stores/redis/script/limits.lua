-- One rule with N limits of two cells each (or one of three): no table is made for a request.
-- Written out by the assembler for N = 1, 2, 3: what stands between @each and @end once per limit with its number for #,
-- @{…} as a list with one item per limit, @and{…}, @or{…} and @plus{…} likewise, @cells{…} as @{…} less its first
-- item, $# as the limit's bit in the reply.
local plan, cost, shadow = shape[1].plan, shape[1].cost, shape[1].shadow
local format, size = plan.format, plan.size
-- The same without hold, end and first tag.
local cellsFormat = "<" .. sub(format, 6)
--@each
local step#, a#, tag#, slack#, counts# = plan[#].step, plan[#].args, plan[#].tag, plan[#].slack, plan[#].countsRefused
--@end
local r = replied
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
      s, carried = general().load(at, plan)
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
