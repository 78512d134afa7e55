-- One batch of requests, judged one after the other at one instant.
-- KEYS     for each group of each request: the packed state, then one key per ledger of its plan. A group is what one
--          rule asks about one key: a plan (its limits) and a cost.
-- ARGV[1]  <ddBBI2 now (NaN: the server's clock), not-after on the server's clock, mode, whether no key stands in KEYS
--          twice (0/1), length of the plans; then
--          plans     per plan <B limits, per limit <BI4B kind, tag, number of args, and the args as doubles
--          requests  mode 0 decide, 1 peek: per run of like requests <I2B how many, groups, per group <I2Bd plan, flags, cost
--                    mode 2 refund: per group <I2Bd plan, flags, at (NaN: now), per limit <dd cost, reset
--                    mode 3 hold: <d for how many milliseconds (the plan is empty)
--          flags     1 shadow, 2 has an id
-- ARGV[2…] the ids, in the order of the groups that have one
-- Reply    <dI4 now, states reset because they were corrupt; then per request and group: <I4 bits (1: a state follows,
--          2, 4, 8, …: the first, second, third limit allows), the packed state as it was before, the facts of its ledgers.
--          A batch that came too late has no effect and gets <d now alone.
--
-- A packed state is <dd hold until, end of the key; then per limit of its plan, in order, <I4 tag and the cells as
-- doubles; behind them are carried the limits no longer in force, each as <I4d tag, its end and the cells. The tag is a
-- digest of the limit's id with the number of cells in bits 28 and 29; bit 31 marks a carried one.

local KEYS, input = KEYS, ARGV[1]
local given, notAfter, mode, isDistinct, planBytes, pos = parse("<ddBBI2", input)
isDistinct = isDistinct == 1
local time = call("TIME")
local serverNow = time[1] * 1000 + time[2] / 1000
if serverNow > notAfter then
  return pack("<d", serverNow)
end
if given ~= given then
  now = serverNow
else
  now, grace = given, 3600000
end

local carriedBit, cellUnit = 0x80000000, 0x10000000

-- Tables are written out whole: a field added later costs as much as a step.
local plans = {}
do
  local last, made = pos + planBytes - 1, {}
  while pos <= last do
    local count, limits = byte(input, pos), {}
    local format, size, width, ledgers, anyCounts, unrolls = "<dd", 16, 2, 0, false, count <= 3
    pos = pos + 1
    for i = 1, count do
      local kind, tag, argCount
      kind, tag, argCount, pos = parse("<BI4B", input, pos)
      local t = made[kind]
      if not t then
        t = twinOf(kind)
        made[kind] = t
      end
      local args = { parse(sub("<dddddddd", 1, argCount + 1), input, pos) }
      pos = pos + argCount * 8
      local cells, at, counts = t.cells, nil, false
      if cells then
        at, counts = width + 2, t.countsRefused ~= nil and t.countsRefused(args)
        anyCounts = anyCounts or counts
        format = format .. (cells == 2 and "I4dd" or sub("I4ddd", 1, 2 + cells))
        width = width + 1 + cells
        size = size + 4 + 8 * cells
        unrolls = unrolls and (cells == 2 or count == 1)
      else
        ledgers = ledgers + 1
        unrolls = false
      end
      limits[i] = { twin = t, tag = tag, args = args, at = at, cells = cells, step = t.step, slack = t.slack or 0, countsRefused = counts }
    end
    plans[#plans + 1] = {
      limits[1], limits[2], limits[3],
      format = format, size = size, width = width, ledgers = ledgers, count = count, countsRefused = anyCounts, unrolls = unrolls,
    }
    for i = 4, count do
      plans[#plans][i] = limits[i]
    end
  end
end

-- By place in KEYS: the states as this batch leaves them, and where they changed: false keeps the key's expiry, a number
-- is its new end. A key that stands in KEYS more than once lives at its first place.
local states = call("MGET", unpack(KEYS))
local firstAt, changed, isNew = {}, {}, {}

local function placeOf(key, at)
  local first = isDistinct and at or firstAt[key]
  if first then
    return first
  end
  firstAt[key] = at
  return at
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

-- A key that stands in KEYS once is written at once, others when the batch is done.
local function keep(at, state, ends)
  local isFresh = not states[at] and isNew[at] == nil
  if isDistinct then
    return write(KEYS[at], state, ends, isFresh)
  end
  isNew[at] = isNew[at] or isFresh
  states[at] = state
  if ends then
    changed[at] = ends
  elseif changed[at] == nil then
    changed[at] = false
  end
end

local reply, replied = { "" }, 1
local keyAt, idAt, inputEnd = 1, 2, #input
local dry = mode == 1

local bitsText = {}
local function textOf(bits)
  local text = pack("<I4", bits)
  bitsText[bits] = text
  return text
end

--[[general]]

if mode <= 1 then
  while pos <= inputEnd do
    local count, groupCount
    count, groupCount, pos = parse("<I2B", input, pos)
    local shape, isOneEach, ids = {}, true, 0
    for g = 1, groupCount do
      local index, flags, cost
      index, flags, cost, pos = parse("<I2Bd", input, pos)
      local plan = plans[index]
      shape[g] = { plan = plan, cost = cost, shadow = flags % 2 == 1, hasId = flags >= 2 }
      isOneEach = isOneEach and plan.unrolls and plan.count == 1 and plan[1].cells == 2
      ids = ids + (flags >= 2 and 1 or 0)
    end
    if groupCount == 1 and shape[1].plan.unrolls then
      idAt = idAt + count * ids
      --[[limits]]
    elseif groupCount > 1 and groupCount <= 3 and isOneEach then
      idAt = idAt + count * ids
      --[[rules]]
    else
      for _ = 1, count do
        local passes = true
        for g = 1, groupCount do
          local part, id = shape[g], nil
          if part.hasId then
            id, idAt = ARGV[idAt], idAt + 1
          end
          passes = (general().judge(g, part.plan, part.cost, id) or part.shadow) and passes
        end
        if not dry then
          for g = 1, groupCount do
            general().settle(g, passes)
          end
        end
      end
    end
  end
elseif mode == 2 then
  while pos <= inputEnd do
    local index, flags, chargedAt
    index, flags, chargedAt, pos = parse("<I2Bd", input, pos)
    local plan, at, id = plans[index], placeOf(KEYS[keyAt], keyAt), nil
    if flags >= 2 then
      id, idAt = ARGV[idAt], idAt + 1
    end
    if chargedAt ~= chargedAt then
      chargedAt = now
    end
    local s, carried = general().load(at, plan)
    for i = 1, plan.count do
      local limit, cost, reset = plan[i], nil, nil
      cost, reset, pos = parse("<dd", input, pos)
      local o = limit.at
      if not o then
        keyAt = keyAt + 1
        limit.twin.refund(limit.args, KEYS[keyAt], now, cost, chargedAt, reset, id)
      elseif states[at] then
        local cells = { limit.twin.refund(limit.args, now, cost, chargedAt, reset, s[o], s[o + 1], s[o + 2]) }
        for c = 1, limit.cells do
          s[o + c - 1] = cells[c]
        end
      end
    end
    if states[at] then
      keep(at, pack(plan.format, unpack(s, 1, plan.width)) .. carried, false)
    end
    keyAt = keyAt + 1
  end
else
  local s, carried = general().load(1, plans[1])
  s[1] = now + parse("<d", input, pos)
  s[2] = max(s[1], s[2])
  keep(1, pack("<dd", s[1], s[2]) .. carried, s[2])
end

for at, ends in pairs(changed) do
  write(KEYS[at], states[at], ends, isNew[at])
end
reply[1] = pack("<dI4", now, resets)
return table.concat(reply)
