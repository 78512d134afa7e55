-- One batch of requests, judged one after the other at one instant.
-- KEYS     for each group of each request: the packed state, then one key per ledger of its plan. A group is what one
--          rule asks about one key: a plan (its limits) and a cost.
-- ARGV[1]  <ddBI2 now (NaN: the server's clock), not-after on the server's clock, mode, length of the plans; then
--          plans     per plan <B limits, per limit <BI4B kind, tag, number of args, and the args as doubles
--          requests  mode 0 decide, 1 peek: per run of like requests <I2B how many, groups, per group <I2Bd plan, flags, cost
--                    mode 2 refund: per group <I2Bd plan, flags, at (NaN: now), per limit <dd cost, reset
--                    mode 3 hold: <d for how many milliseconds (the plan is empty)
--          flags     1 shadow, 2 has an id
-- ARGV[2…] the ids, in the order of the groups that have one
-- Reply    <dI4 now, states reset because they were corrupt; then per request and group: one byte per limit (1 = allowed
--          by itself), one byte (1 = a state follows), the packed state as it was before, the facts of its ledgers.
--          A batch that came too late has no effect and gets <d now alone.
--
-- A packed state is <d hold until, then per limit <I4d tag, expiry and its cells as doubles. The tag is a digest of the
-- limit's id, with the number of cells in its upper four bits. Limits of this plan come first, in its order; behind them
-- are carried those no longer in force, until they expire.

local input = ARGV[1]
local given, notAfter, mode, planBytes, pos = parse("<ddBI2", input)
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

local kinds = { --[[kinds]] }
local made = {}

local function readPlans(last)
  local plans = {}
  while pos <= last do
    local count
    count, pos = byte(input, pos), pos + 1
    local plan = { format = "<d", size = 8, width = 1, ledgers = 0, count = count, countsRefused = false }
    for i = 1, count do
      local kind, tag, argCount
      kind, tag, argCount, pos = parse("<BI4B", input, pos)
      local t = made[kind]
      if not t then
        t = kinds[kind]()
        made[kind] = t
      end
      local limit = { twin = t, tag = tag, args = { parse("<" .. rep("d", argCount), input, pos) } }
      pos = pos + argCount * 8
      if t.cells then
        limit.at, limit.cells, limit.step, limit.slack = plan.width + 3, t.cells, t.step, t.slack or 0
        limit.countsRefused = t.countsRefused ~= nil and t.countsRefused(limit.args)
        plan.countsRefused = plan.countsRefused or limit.countsRefused
        plan.format = plan.format .. "I4d" .. rep("d", t.cells)
        plan.width = plan.width + 2 + t.cells
        plan.size = plan.size + 12 + 8 * t.cells
      else
        plan.ledgers = plan.ledgers + 1
      end
      plan[i] = limit
    end
    plans[#plans + 1] = plan
  end
  return plans
end

-- Packed states by key, as this batch leaves them; `before` as Redis had them; `expiry` where the key's must move.
local states, before, expiry, resets = {}, {}, {}, 0

local function fresh(plan)
  local s = { 0 }
  for i = 1, plan.count do
    local limit = plan[i]
    local o = limit.at
    if o then
      s[o - 2], s[o - 1] = limit.tag, 0
      for c = o, o + limit.cells - 1 do
        s[c] = 0
      end
    end
  end
  return s, ""
end

-- Entry by entry, for a state that is not laid out as this plan lays it out. Answers nil when it is corrupt.
local function rearrange(state, plan)
  if #state < 8 then
    return nil
  end
  local entries, order, pos = {}, {}, 9
  while pos <= #state do
    if pos + 11 > #state then
      return nil
    end
    local tag, ends = parse("<I4d", state, pos)
    local size = 12 + 8 * floor(tag / 0x10000000)
    if size == 12 or size > 44 or pos + size - 1 > #state then
      return nil
    end
    entries[tag] = { at = pos, size = size, ends = ends }
    order[#order + 1] = tag
    pos = pos + size
  end
  local s = fresh(plan)
  s[1] = parse("<d", state)
  for i = 1, plan.count do
    local o = plan[i].at
    local entry = o and entries[plan[i].tag]
    if entry then
      local cells = { parse("<d" .. rep("d", plan[i].cells), state, entry.at + 4) }
      for c = 1, #cells - 1 do
        s[o + c - 2] = cells[c]
      end
      entries[plan[i].tag] = nil
    end
  end
  local carried = ""
  for i = 1, #order do
    local entry = entries[order[i]]
    if entry and entry.ends > now then
      carried = carried .. sub(state, entry.at, entry.at + entry.size - 1)
    end
  end
  return s, carried
end

-- The state's numbers in the plan's layout, and what is carried behind them.
local function load(key, plan)
  local state = states[key]
  if not state then
    return fresh(plan)
  end
  if #state == plan.size then
    local s = { parse(plan.format, state) }
    local fits = true
    for i = 1, plan.count do
      local o = plan[i].at
      if o and s[o - 2] ~= plan[i].tag then
        fits = false
      end
    end
    if fits then
      return s, ""
    end
  end
  local s, carried = rearrange(state, plan)
  if s then
    return s, carried
  end
  resets = resets + 1
  states[key] = false
  return fresh(plan)
end

-- The latest end of anything in a state.
local function lastEnd(s, plan, carried)
  local ends = s[1]
  for i = 1, plan.count do
    local o = plan[i].at
    if o and s[o - 1] > ends then
      ends = s[o - 1]
    end
  end
  local pos = 1
  while pos <= #carried do
    local tag, entryEnds = parse("<I4d", carried, pos)
    ends = max(ends, entryEnds)
    pos = pos + 12 + 8 * floor(tag / 0x10000000)
  end
  return ends
end

local function keep(key, s, plan, carried, moved)
  local state = pack(plan.format, unpack(s, 1, plan.width))
  if carried ~= "" then
    state = state .. carried
    moved = true
  end
  states[key] = state
  if moved or not before[key] then
    expiry[key] = lastEnd(s, plan, carried)
  elseif expiry[key] == nil then
    expiry[key] = false
  end
end

local function fetch(keys)
  local found = call("MGET", unpack(keys))
  for i = 1, #keys do
    local key = keys[i]
    states[key], before[key] = found[i], found[i]
  end
end

local function writeAll()
  for key, ends in pairs(expiry) do
    local state = states[key]
    if not ends then
      call("SET", key, state, "KEEPTTL")
    else
      if before[key] then
        call("SET", key, state, "PX", ttl(ends))
      elseif not call("SET", key, state, "PX", ttl(ends), "NX") then
        -- MGET shows no state, yet something is there: it is of another type.
        resets = resets + 1
        call("SET", key, state, "PX", ttl(ends))
      end
    end
  end
end

local plans = readPlans(pos + planBytes - 1)
local reply, r = { "" }, 1
local keyAt, idAt, inputEnd = 1, 2, #input
local dry = mode == 1

-- One limit of constant size under one rule: most requests are this. No table is made for it.
local function decideOne(count, plan, cost)
  local limit, format, size = plan[1], plan.format, plan.size
  local step, a, tag, slack, countsRefused = limit.step, limit.args, limit.tag, limit.slack, limit.countsRefused
  for at = keyAt, keyAt + count - 1 do
    local key = KEYS[at]
    local state = states[key]
    local held, found, ends, c1, c2, c3, carried = 0, tag, 0, 0, 0, 0, ""
    if state then
      if #state == size then
        held, found, ends, c1, c2, c3 = parse(format, state)
      end
      if #state ~= size or found ~= tag then
        local s
        s, carried = load(key, plan)
        held, ends, c1, c2, c3 = s[1], s[3], s[4], s[5], s[6]
        state = states[key] and pack(format, held, tag, ends, c1, c2, c3)
      end
    end
    local allowed, nextEnds, y1, y2, y3, refusedEnds, n1, n2, n3 = step(a, now, cost, c1, c2, c3)
    allowed = allowed and held <= now
    reply[r + 1] = allowed and (state and "\1\1" or "\1\0") or (state and "\0\1" or "\0\0")
    r = r + 1
    if state then
      r = r + 1
      reply[r] = state
    end
    if not allowed then
      nextEnds, y1, y2, y3 = refusedEnds, n1, n2, n3
    end
    if not dry and (allowed or countsRefused) then
      if nextEnds > ends then
        ends = nextEnds + (nextEnds - now) * slack
        states[key] = pack(format, held, tag, ends, y1, y2, y3) .. carried
        expiry[key] = carried == "" and max(ends, held) or lastEnd({ held, tag, ends, y1, y2, y3 }, plan, carried)
      else
        states[key] = pack(format, held, tag, ends, y1, y2, y3) .. carried
        if expiry[key] == nil then
          expiry[key] = false
        end
      end
    end
  end
  keyAt = keyAt + count
end

local groups = {}

-- Judges one group of a request into groups[g] and the reply. Answers whether all its limits allow.
local function judge(g, plan, cost, id)
  local group, key = groups[g], KEYS[keyAt]
  if not group then
    group = { allowed = {}, yes = {}, no = {} }
    groups[g] = group
  end
  local state = states[key]
  local s, carried = load(key, plan)
  group.plan, group.key, group.keyAt, group.cost, group.id, group.s, group.carried = plan, key, keyAt, cost, id, s, carried
  local yes, no, free, passes, facts = group.yes, group.no, s[1] <= now, true, nil
  for i = 1, plan.count do
    local limit = plan[i]
    local o, allowed = limit.at, nil
    if o then
      allowed, yes[o - 1], yes[o], yes[o + 1], yes[o + 2], no[o - 1], no[o], no[o + 1], no[o + 2] =
        limit.step(limit.args, now, cost, s[o], s[o + 1], s[o + 2])
    else
      keyAt = keyAt + 1
      local t = limit.twin
      local found = { t.judge(limit.args, KEYS[keyAt], now, cost, id, dry) }
      allowed = found[1]
      facts = (facts or "") .. pack("<" .. rep("d", t.facts), unpack(found, 2, t.facts + 1))
    end
    allowed = allowed and free
    passes = passes and allowed
    group.allowed[i] = allowed
    r = r + 1
    reply[r] = allowed and "\1" or "\0"
  end
  keyAt = keyAt + 1
  r = r + 1
  if state and states[key] then
    reply[r] = "\1"
    r = r + 1
    reply[r] = #state == plan.size and carried == "" and state or pack(plan.format, unpack(s, 1, plan.width))
  else
    reply[r] = "\0"
  end
  if facts then
    r = r + 1
    reply[r] = facts
  end
  return passes
end

-- Gives one group its future.
local function settle(group, passes)
  local plan, s = group.plan, group.s
  if not passes and not plan.countsRefused then
    return
  end
  local changed, moved, ledgerAt = false, false, group.keyAt
  for i = 1, plan.count do
    local limit = plan[i]
    local charged, o = passes and group.allowed[i], limit.at
    if not o then
      ledgerAt = ledgerAt + 1
      if charged then
        limit.twin.charge(limit.args, KEYS[ledgerAt], now, group.cost, group.id)
      end
    elseif charged or limit.countsRefused then
      local successor = charged and group.yes or group.no
      for c = o, o + limit.cells - 1 do
        s[c] = successor[c]
      end
      if successor[o - 1] > s[o - 1] then
        s[o - 1] = successor[o - 1] + (successor[o - 1] - now) * limit.slack
        moved = true
      end
      changed = true
    end
  end
  if changed then
    keep(group.key, s, plan, group.carried, moved)
  end
end

fetch(KEYS)
if mode <= 1 then
  while pos <= inputEnd do
    local count, groupCount
    count, groupCount, pos = parse("<I2B", input, pos)
    local shape = {}
    for g = 1, groupCount do
      local index, flags, cost
      index, flags, cost, pos = parse("<I2Bd", input, pos)
      shape[g] = { plan = plans[index], cost = cost, shadow = flags % 2 == 1, hasId = flags >= 2 }
    end
    local plan = shape[1].plan
    if groupCount == 1 and plan.count == 1 and plan.ledgers == 0 then
      if shape[1].hasId then
        idAt = idAt + count
      end
      decideOne(count, plan, shape[1].cost)
    else
      for _ = 1, count do
        local passes = true
        for g = 1, groupCount do
          local part, id = shape[g], nil
          if part.hasId then
            id, idAt = ARGV[idAt], idAt + 1
          end
          passes = (judge(g, part.plan, part.cost, id) or part.shadow) and passes
        end
        if not dry then
          for g = 1, groupCount do
            settle(groups[g], passes)
          end
        end
      end
    end
  end
elseif mode == 2 then
  while pos <= inputEnd do
    local index, flags, at
    index, flags, at, pos = parse("<I2Bd", input, pos)
    local plan, key, id = plans[index], KEYS[keyAt], nil
    if flags >= 2 then
      id, idAt = ARGV[idAt], idAt + 1
    end
    if at ~= at then
      at = now
    end
    local known = states[key]
    local s, carried = load(key, plan)
    for i = 1, plan.count do
      local limit, cost, reset = plan[i], nil, nil
      cost, reset, pos = parse("<dd", input, pos)
      local o = limit.at
      if not o then
        keyAt = keyAt + 1
        limit.twin.refund(limit.args, KEYS[keyAt], now, cost, at, reset, id)
      elseif known then
        local cells = { limit.twin.refund(limit.args, now, cost, at, reset, s[o], s[o + 1], s[o + 2]) }
        for c = 1, limit.cells do
          s[o + c - 1] = cells[c]
        end
      end
    end
    if known and plan.width > 1 then
      keep(key, s, plan, carried, false)
    end
    keyAt = keyAt + 1
  end
else
  local s, carried = load(KEYS[1], plans[1])
  s[1] = now + parse("<d", input, pos)
  keep(KEYS[1], s, plans[1], carried, true)
end

writeAll()
reply[1] = pack("<dI4", now, resets)
return table.concat(reply)
