-- What the unrolled questions leave over, through tables: ledgers, many limits, states laid out otherwise or corrupt.
-- Made when a batch first needs it, since making functions costs every batch.
local made = nil
local function general()
  if made then
    return made
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

  -- The numbers of the state at this place in the plan's layout, what is carried behind them, and whether the state lay so.
  local function load(at, plan)
    local state = states[at]
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
        return s, "", true
      end
    end
    local s, carried = rearrange(state, plan)
    if s then
      return s, carried
    end
    resets = resets + 1
    states[at], isNew[at] = false, false
    return fresh(plan)
  end

  local groups = {}

  -- Judges one group of a request into groups[g] and the reply. Answers whether all its limits allow.
  local function judge(g, plan, cost, id)
    local group = groups[g]
    if not group then
      group = { allowed = {}, yes = {}, no = {} }
      groups[g] = group
    end
    local at = placeOf(KEYS[keyAt], keyAt)
    local state = states[at]
    local s, carried, fits = load(at, plan)
    group.plan, group.at, group.keyAt, group.cost, group.id, group.s, group.carried = plan, at, keyAt, cost, id, s, carried
    local yes, no, free, passes, facts = group.yes, group.no, s[1] <= now, true, nil
    local bits, bit = states[at] and 1 or 0, 2
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
      if allowed then
        bits = bits + bit
      end
      bit = bit * 2
    end
    keyAt = keyAt + 1
    replied = replied + 1
    reply[replied] = bitsText[bits] or textOf(bits)
    if states[at] then
      replied = replied + 1
      reply[replied] = fits and state or pack(plan.format, unpack(s, 1, plan.width))
    end
    if facts then
      replied = replied + 1
      reply[replied] = facts
    end
    return passes
  end

  -- Gives one group its future.
  local function settle(g, passes)
    local group = groups[g]
    local plan, s = group.plan, group.s
    if not passes and not plan.countsRefused then
      return
    end
    local isChanged, ends, ledgerAt = false, s[2], group.keyAt
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
        local needed = successor[o - 1]
        if needed > ends then
          ends = needed + (needed - now) * limit.slack
        end
        isChanged = true
      end
    end
    if isChanged then
      local moved = ends > s[2] and ends
      s[2] = ends
      keep(group.at, pack(plan.format, unpack(s, 1, plan.width)) .. group.carried, moved)
    end
  end

  made = { load = load, judge = judge, settle = settle }
  return made
end
