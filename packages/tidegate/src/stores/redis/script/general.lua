-- What the unrolled questions leave over, through tables: ledgers, many limits, states laid out otherwise or corrupt,
-- refunds and holds.
-- A time further ahead than this, twice the longest duration, is no time of ours.
local farAhead = 630720000000
local carriedBit, cellUnit = 0x80000000, 0x10000000
local sub, rep = string.sub, string.rep
local idAt = 2

-- A read of a key that may be of another type: nil if it is.
local function tryRead(...)
  local found = redis.pcall(...)
  if type(found) == "table" and found.err then
    if not string.find(found.err, "WRONGTYPE", 1, true) then
      error(found.err)
    end
    return nil
  end
  return found
end

--[[twinOf]]

local twins = {}

-- Reads the plan there. Answers where it ends, too.
local function planAt(at)
  local flags, cost, limits
  flags, cost, limits, at = parse("<BdB", input, at)
  local plan = { count = limits, cost = cost, shadow = flags % 2 == 1, hasId = flags >= 2 }
  local format, size, width, counts = "<dd", 16, 2, false
  for i = 1, limits do
    local kind, tag, weight
    kind, tag, weight, at = parse("<BI4d", input, at)
    twins[kind] = twins[kind] or twinOf(kind)
    local limit = { twin = twins[kind], tag = tag, weight = weight, args = { parse("<dddd", input, at) } }
    at = at + 32
    if twins[kind].offend then
      for step = 1, limit.args[4] do
        limit.args[4 + step], at = parse("<d", input, at)
      end
    end
    local cells = floor(tag / cellUnit)
    if cells > 0 then
      limit.at, limit.cells = width + 2, cells
      format = format .. "I4" .. rep("d", cells)
      width, size = width + 1 + cells, size + 4 + 8 * cells
      counts = counts or weight > 0
    end
    plan[i] = limit
  end
  plan.format, plan.size, plan.width, plan.countsRefused = format, size, width, counts
  return plan, at
end

local function placeOf(place)
  return firstAt and firstAt[place] or place
end

local function stateAt(at)
  if firstAt and firstAt[at] then
    return latest[at]
  end
  return states[at]
end

local function idOf(plan)
  if not plan.hasId then
    return nil
  end
  idAt = idAt + 1
  return ARGV[idAt - 1]
end

local function textOf(plan, s)
  return pack(plan.format, unpack(s, 1, plan.width))
end

local function fresh(plan)
  local s = { 0, 0 }
  for i = 1, plan.count do
    local limit = plan[i]
    local o = limit.at
    if o then
      s[o - 1] = limit.tag
      for c = o, o + limit.cells - 1 do
        s[c] = 0
      end
    end
  end
  return s, ""
end

-- Neither infinite nor NaN, which would let a client in, or keep it out, for as long as the key lives.
local function areNumbers(s, last)
  local sum = 0
  for i = 1, last do
    sum = sum + s[i]
  end
  return sum * 0 == 0
end

-- Entry by entry, for a state that is not laid out as this plan lays it out. Answers nil when it is corrupt.
local function rearrange(state, plan)
  if #state < 16 then
    return nil
  end
  local s = fresh(plan)
  s[1], s[2] = parse("<dd", state)
  local entries, order, at = {}, {}, 17
  while at <= #state do
    if at + 11 > #state then
      return nil
    end
    local tag, ends, cellsAt = parse("<I4", state, at), s[2], at + 4
    if tag >= carriedBit then
      tag, ends, cellsAt = tag - carriedBit, parse("<d", state, at + 4), at + 12
    end
    local cells = floor(tag / cellUnit)
    at = cellsAt + 8 * cells
    if cells < 1 or cells > 3 or at > #state + 1 then
      return nil
    end
    entries[tag] = { ends = ends, cellsAt = cellsAt, at = at }
    order[#order + 1] = tag
  end
  for i = 1, plan.count do
    local o = plan[i].at
    local entry = o and entries[plan[i].tag]
    if entry then
      for c = 0, plan[i].cells - 1 do
        s[o + c] = parse("<d", state, entry.cellsAt + 8 * c)
      end
      entries[plan[i].tag] = nil
    end
  end
  if not areNumbers(s, plan.width) then
    return nil
  end
  local carried = ""
  for i = 1, #order do
    local entry = entries[order[i]]
    if entry and entry.ends > now then
      carried = carried .. pack("<I4d", order[i] + carriedBit, entry.ends) .. sub(state, entry.cellsAt, entry.at - 1)
    end
  end
  return s, carried
end

-- The numbers of the state at this place in the plan's layout, and what is carried behind them.
local function load(at, plan)
  local state = stateAt(at)
  if not state then
    return fresh(plan)
  end
  if #state == plan.size then
    local s, fits = { parse(plan.format, state) }, true
    for i = 1, plan.count do
      local o = plan[i].at
      fits = fits and (not o or s[o - 1] == plan[i].tag)
    end
    if fits and areNumbers(s, plan.width) then
      return s, ""
    end
  end
  local s, carried = rearrange(state, plan)
  if s then
    return s, carried
  end
  resets = resets + 1
  if firstAt and firstAt[at] then
    latest[at], isNew[at] = false, false
  else
    states[at] = false
  end
  return fresh(plan)
end

-- Judges what one group of a request asks. Answers what settle needs, and whether all its limits allow.
local function judge(plan, id)
  local place = keyAt
  local at = placeOf(place)
  local isFresh = not stateAt(at)
  local s, carried = load(at, plan)
  local isKnown = stateAt(at) and true
  local group = { plan = plan, at = at, place = place, id = id, s = s, carried = carried, isFresh = isFresh, allowed = {}, charged = {} }
  local isFree, passes, bits, bit = s[1] <= now, true, isKnown and 1 or 0, 2
  for i = 1, plan.count do
    local limit = plan[i]
    local o, allowed, found = limit.at, nil, nil
    if o then
      found = { limit.twin.step(limit.args, now, plan.cost, s[o], s[o + 1], s[o + 2]) }
      group.charged[i] = found
    else
      local t = limit.twin
      keyAt = keyAt + 1
      found = { t.judge(limit.args, KEYS[keyAt], now, plan.cost, id, dry) }
      before[keyAt] = pack("<" .. rep("d", t.facts), unpack(found, 2, t.facts + 1))
    end
    allowed = found[1] and isFree
    passes = passes and allowed
    group.allowed[i] = allowed
    bits, bit = bits + (allowed and bit or 0), bit * 2
  end
  group.offends = isFree and not passes and not plan.shadow
  before[place] = isKnown and textOf(plan, s) or ""
  if bits < bit - 1 then
    exceptions[#exceptions + 1] = pack("<I2I4", place, bits)
  end
  keyAt = keyAt + 1
  return group, passes
end

-- Gives one group its future.
local function settle(group, passes)
  local plan, s = group.plan, group.s
  if not passes and not plan.countsRefused then
    return
  end
  local isChanged, ends, ledgerAt = false, s[2], group.place
  for i = 1, plan.count do
    local limit = plan[i]
    local isCharged, o = passes and group.allowed[i], limit.at
    if not o then
      ledgerAt = ledgerAt + 1
      if isCharged then
        limit.twin.charge(limit.args, KEYS[ledgerAt], now, plan.cost, group.id)
      end
    elseif limit.twin.offend then
      if group.offends then
        local held, needed
        held, needed, s[o], s[o + 1], s[o + 2] = limit.twin.offend(limit.args, now, s[o], s[o + 1], s[o + 2])
        s[1] = max(s[1], held)
        ends = max(ends, needed)
        isChanged = true
      end
    elseif isCharged or limit.weight > 0 then
      local successor = isCharged and group.charged[i]
        or { limit.twin.step(limit.args, now, plan.cost * limit.weight, s[o], s[o + 1], s[o + 2]) }
      for c = 1, limit.cells do
        s[o + c - 1] = successor[c + 2]
      end
      local needed = successor[2]
      if needed > ends then
        ends = needed + (needed - now) * limit.twin.slack
      end
      isChanged = true
    end
  end
  if isChanged then
    local moved = ends > s[2] and ends
    s[2] = ends
    keep(group.at, textOf(plan, s) .. group.carried, moved, group.isFresh)
  end
end

local shape, shapeAt, shapeEnd

-- One request of the run at hand.
local function decide()
  if shapeAt ~= pos then
    shape, shapeAt, shapeEnd = {}, pos, pos
    for g = 1, groupCount do
      shape[g], shapeEnd = planAt(shapeEnd)
    end
  end
  local groups, passes = {}, true
  for g = 1, groupCount do
    local plan, allows = shape[g], nil
    groups[g], allows = judge(plan, idOf(plan))
    passes = passes and (allows or plan.shadow)
  end
  if not dry then
    for g = 1, groupCount do
      settle(groups[g], passes)
    end
  end
  count = count - 1
  if count == 0 then
    pos = shapeEnd
  end
end

-- What was charged to one group.
local function refund()
  local plan, chargedAt
  plan, pos = planAt(pos)
  chargedAt, pos = parse("<d", input, pos)
  if chargedAt ~= chargedAt then
    chargedAt = now
  end
  local at, id = placeOf(keyAt), idOf(plan)
  local s, carried = load(at, plan)
  for i = 1, plan.count do
    local limit, cost, reset = plan[i], nil, nil
    cost, reset, pos = parse("<dd", input, pos)
    local o = limit.at
    if not o then
      keyAt = keyAt + 1
      limit.twin.refund(limit.args, KEYS[keyAt], now, cost, chargedAt, reset, id)
    elseif stateAt(at) then
      local cells = { limit.twin.refund(limit.args, now, cost, chargedAt, reset, s[o], s[o + 1], s[o + 2]) }
      for c = 1, limit.cells do
        s[o + c - 1] = cells[c]
      end
    end
  end
  if stateAt(at) then
    keep(at, textOf(plan, s) .. carried, false, false)
  end
  keyAt = keyAt + 1
end

local function hold()
  local isFresh, forMs, plan = not states[1], nil, nil
  forMs, pos = parse("<d", input, pos)
  plan, pos = planAt(pos)
  local s, carried = load(1, plan)
  s[1] = now + forMs
  s[2] = max(s[1], s[2])
  keep(1, textOf(plan, s) .. carried, s[2], isFresh)
end

general = mode <= 1 and decide or mode == 2 and refund or hold
