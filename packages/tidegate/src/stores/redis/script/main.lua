-- One batch of requests, judged one after the other at one instant.
-- KEYS     for each group of each request: the packed state, then one key per ledger of its plan. A group is what one
--          rule asks about one key: a plan (its limits) and a cost.
-- ARGV[1]  <ddBI2 now (NaN: the server's clock), not-after on the server's clock, mode, how many places repeat a key;
--          per such place <I2I2 the place in KEYS, the key's first one; then the requests:
--          mode 0 decide, 1 peek: per run of like requests <I2BB how many, groups, question; per group a plan
--          mode 2 refund: per group a plan, <d at (NaN: now), per limit <dd cost, reset
--          mode 3 hold: <d for how many milliseconds, an empty plan
--          plan      <BdB flags, cost, limits; per limit <BI4ddddd kind, tag, share of a refused cost that counts, four args; for a
--                    ladder of offences so many more as the fourth says
--          flags     1 shadow, 2 has an id
--          question  1, 2, 3: one rule with so many limits of two cells; 4: one rule with one limit of three cells;
--                    5, 6: two, three rules with one limit of two cells each; 0: any other
-- ARGV[2…] the ids, in the order of the groups that have one
-- Reply    <dI4I2 now, states reset because they were corrupt, number of exceptions; per exception <I2I4 place in KEYS of
--          a group, its bits (1: there was a state, 2, 4, 8, …: the first, second, third limit allows), where not all are
--          set; then, in the order of KEYS, the packed states as they were before and the facts of the ledgers.
--          A refund and a hold get the first part only. A batch that came too late has no effect and gets <d now alone.
--
-- A packed state is <dd hold until, end of the key; then per limit of its plan, in order, <I4 tag and the cells as
-- doubles; behind them are carried the limits no longer in force, each as <I4d tag, its end and the cells. The tag is a
-- digest of the limit's id with the number of cells in bits 28 and 29; bit 31 marks a carried one.
--
-- The whole chunk runs at every call, and making a function or a table costs as much as a small command. So the common
-- questions are judged first, without; the general way is made when the first request needs it.

local KEYS, input = KEYS, ARGV[1]
local now, notAfter, mode, repeats, pos = parse("<ddBI2", input)
local time = call("TIME")
local serverNow = time[1] * 1000 + time[2] / 1000
if serverNow > notAfter then
  return pack("<d", serverNow)
end
-- Expiry runs on the server's clock: when the time is not its own (tests, replay), keys live longer.
local grace = 3600000
if now ~= now then
  now, grace = serverNow, 0
end

-- By place in KEYS: the states as they were found, and what the reply says of them.
local states = call("MGET", unpack(KEYS))
local before, exceptions = states, {}
-- A key that stands in KEYS more than once lives at its first place, firstAt says which; latest is how this batch leaves
-- it, written when the batch is done: changed says false to keep its expiry, or its new end.
local firstAt, latest, changed, isNew
if repeats > 0 then
  firstAt, latest, changed, isNew = {}, {}, {}, {}
  for _ = 1, repeats do
    local place, first
    place, first, pos = parse("<I2I2", input, pos)
    firstAt[place], firstAt[first], latest[first] = first, first, states[first]
  end
end
-- Keys found corrupt or of a foreign type, and begun afresh by this batch.
local resets = 0

-- The expiry of a key that says something until `ends`, as PX and PEXPIRE take it.
local function ttl(ends)
  return max(1, floor(ends - now + 1)) + grace
end

local function write(key, state, ends, isFresh)
  if not ends then
    call("SET", key, state, "KEEPTTL")
  elseif not isFresh then
    call("SET", key, state, "PX", ttl(ends))
  elseif not call("SET", key, state, "PX", ttl(ends), "NX") then
    -- MGET shows no state, yet something is there: it is of another type.
    resets = resets + 1
    call("SET", key, state, "PX", ttl(ends))
  end
end

local function keep(at, state, ends, isFresh)
  if not (firstAt and firstAt[at]) then
    return write(KEYS[at], state, ends, isFresh)
  end
  if isNew[at] == nil then
    isNew[at] = isFresh
  end
  latest[at] = state
  changed[at] = ends or changed[at] or false
end

--[[stepOf]]

local dry, keyAt, inputEnd = mode == 1, 1, #input
local count, groupCount, question = 0, 0, 0
local general
while count > 0 or pos <= inputEnd do
  if mode <= 1 then
    if count == 0 then
      count, groupCount, question, pos = parse("<I2BB", input, pos)
    end
    --[[questions]]
  end
  if mode > 1 or count > 0 then
    if not general then
      --[[general]]
    end
    general()
  end
end

if changed then
  for at, ends in pairs(changed) do
    write(KEYS[at], latest[at], ends, isNew[at])
  end
end
before[0] = pack("<dI4I2", now, resets, #exceptions) .. concat(exceptions)
return concat(before, "", 0, mode <= 1 and #KEYS or 0)
