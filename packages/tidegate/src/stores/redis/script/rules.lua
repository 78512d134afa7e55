-- N rules with one limit of two cells each, every rule with a key of its own; written out like limits.lua for N = 2, 3.
--@each
local plan#, cost#, shadow# = shape[#].plan, shape[#].cost, shape[#].shadow
local format#, size#, limit# = plan#.format, plan#.size, plan#[1]
local step#, a#, tag#, slack#, counts# = limit#.step, limit#.args, limit#.tag, limit#.slack, limit#.countsRefused
--@end
local r, at = replied, keyAt
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
      s, carried# = general().load(at#, plan#)
      held#, ends#, c#1, c#2, isInPlace# = s[1], s[2], s[4], s[5], false
      state# = states[at#] and pack(format#, held#, ends#, tag#, c#1, c#2)
    end
  end
  local ok#, e#, y#1, y#2, _, f#, n#1, n#2 = step#(a#, now, cost#, c#1, c#2)
  ok# = ok# and held# <= now
  passes = passes and (ok# or shadow#)
  local bits# = (ok# and 2 or 0) + (state# and 1 or 0)
  reply[r + 1] = bitsText[bits#] or textOf(bits#)
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
