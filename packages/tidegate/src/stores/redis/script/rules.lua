-- N rules with one limit of two cells each, every rule with a key of its own; until the first request with a state that
-- is not laid out so. Written out like limits.lua, with @n for N and @i for a rule's number from 0.
local kind, specAt, _ = nil, pos, nil
--@each
local flags#, cost#, tag#, weight#, a#
flags#, cost#, _, kind, tag#, weight#, specAt = parse("<BdBBI4d", input, specAt)
a#, specAt = { parse("<dddd", input, specAt) }, specAt + 32
local step#, slack# = stepOf(kind)
local shadow# = flags# % 2 == 1
--@end
local place = keyAt
while count > 0 do
  local isOdd = false
  --@each
  local at# = place + @i
  local first# = firstAt and firstAt[at#]
  local state#, held#, ends#, t#, c#* = states[at#]
  if first# then
    at#, state# = first#, latest[first#]
  end
  if not state# then
    held#, ends#, c#* = 0, 0, 0, 0
  elseif #state# == @size then
    held#, ends#, t#, c#* = parse("@state", state#)
    isOdd = isOdd or t# ~= tag# or (held# + ends# + c#+) * 0 ~= 0
  else
    isOdd = true
  end
  --@end
  if isOdd then
    break
  end
  --@each
  local ok#, e#, y#* = step#(a#, now, cost#, c#*)
  ok# = ok# and held# <= now
  --@end
  local passes = @and{(ok# or shadow#)}
  --@each
  if not first# and not dry and passes and ok# and state# and e# <= ends# then
    call("SETRANGE", KEYS[at#], "20", pack("@tail", y#*))
  else
    local isChanged = passes and ok#
    if weight# > 0 and not isChanged then
      isChanged, _, e#, y#* = true, step#(a#, now, cost# * weight#, c#*)
    end
    if isChanged and not dry then
      local newEnds = e# > ends# and e# + (e# - now) * slack#
      keep(at#, pack("@state", held#, newEnds or ends#, tag#, y#*), newEnds, not state#)
    end
    before[place + @i] = state# or ""
    if not (state# and ok#) then
      exceptions[#exceptions + 1] = pack("<I2I4", place + @i, (ok# and 2 or 0) + (state# and 1 or 0))
    end
  end
  --@end
  place, count = place + @n, count - 1
end
keyAt = place
if count == 0 then
  pos = specAt
end
