-- One rule with N limits of C cells each, until the first request whose state is not laid out so.
-- Written out by the assembler: what stands between @each and @end once per limit with its number for #, @{…} as a list
-- with one item per limit, @and{…}, @or{…} and @plus{…} likewise, x#* as the list of its cells, x#+ as their sum, $# as
-- the limit's bit in the reply; @state is the format of the packed state, @size its bytes, @tail its format from the
-- first cell on, @zeros as many zeros as a limit has cells; @cells{…} is @{…} less its first item.
local flags, cost, _, specAt = parse("<BdB", input, pos)
local kind, shadow = nil, flags % 2 == 1
--@each
local tag#, weight#, a#
kind, tag#, weight#, specAt = parse("<BI4d", input, specAt)
a#, specAt = { parse("<dddd", input, specAt) }, specAt + 32
local step#, slack# = stepOf(kind)
--@end
local mayCount = shadow or @or{weight# > 0}
local left, blank = 0, nil
for place = keyAt, keyAt + count - 1 do
  local at, found = place, states[place]
  local first = firstAt and firstAt[place]
  if first then
    at, found = first, latest[first]
  end
  local state = found
  if not found then
    blank = blank or pack("@state", 0, 0, @{tag#, @zeros})
    state = blank
  end
  if #state ~= @size then
    left = keyAt + count - place
    break
  end
  local held, ends, @{t#, c#*} = parse("@state", state)
  if @or{t# ~= tag#} or (held + ends + @plus{c#+}) * 0 ~= 0 then
    left = keyAt + count - place
    break
  end
  --@each
  local ok#, e#, y#* = step#(a#, now, cost, c#*)
  --@end
  if not first and not dry and found and held <= now and @and{ok#} and @and{e# <= ends} then
    -- Only the cells differ: what stands before them stays, the key's expiry too.
    call("SETRANGE", KEYS[at], "20", pack("@tail", @cells{tag#, y#*}))
  else
    --@each
    ok# = ok# and held <= now
    --@end
    local passes, bits = @and{ok#}, found and 1 or 0
    local isChanged = passes
    --@each
    if ok# then
      bits = bits + $#
    end
    --@end
    if mayCount and not passes then
      --@each
      if shadow and ok# then
        isChanged = true
      elseif weight# > 0 then
        isChanged, _, e#, y#* = true, step#(a#, now, cost * weight#, c#*)
      else
        e#, y#* = 0, c#*
      end
      --@end
    end
    if isChanged and not dry then
      local newEnds = ends
      --@each
      if e# > newEnds then
        newEnds = e# + (e# - now) * slack#
      end
      --@end
      keep(at, pack("@state", held, newEnds, @{tag#, y#*}), newEnds > ends and newEnds, not found)
    end
    before[place] = found or ""
    if not (found and passes) then
      exceptions[#exceptions + 1] = pack("<I2I4", place, bits)
    end
  end
end
keyAt, count = keyAt + count - left, left
if left == 0 then
  pos = specAt
end
