-- What every twin may use. Numbers are compared as in limit.ts.
local floor, max, min, exp, log, huge = math.floor, math.max, math.min, math.exp, math.log, math.huge
local pack, parse = struct.pack, struct.unpack
local byte, sub, rep = string.byte, string.sub, string.rep
local call = redis.call

-- Set by the main loop before any twin runs: the instant of this batch, and how much longer keys live when the time is
-- not the server's own (tests, replay), since expiry always runs on the server's clock.
local now, grace = 0, 0

-- The expiry of a key that says something until `ends`, as PX and PEXPIRE take it.
local function ttl(ends)
  return max(1, floor(ends - now + 1)) + grace
end

-- Keys found corrupt or of a foreign type, and begun afresh by this batch.
local resets = 0

-- A time further ahead than this, twice the longest duration, is no time of ours.
local farAhead = 630720000000

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

-- Whole sums are compared exactly, sums with fractions with a tolerance of 1e-9 of the limit.
local function exceeds(sum, limit)
  return sum > limit and (floor(sum) == sum or sum > limit * (1 + 1e-9))
end

-- twin(kind, make) is what each algorithm's file says; make answers its table t, and runs only in batches that use it.
-- Constant state, of up to three cells c1 to c3 (zeros when fresh):
--   t.cells                                     how many
--   t.countsRefused(a)                          whether a refused hit changes the state (absent: never)
--   t.slack                                     share by which the expiry is set longer, so that it seldom has to move
--   t.step(a, now, cost, c1, c2, c3)            answers allowed, then the successor if the hit is charged (its expiry and
--                                               three cells), then the successor if it is refused (likewise)
--   t.refund(a, now, cost, at, reset, c1, c2, c3) answers the cells after giving back
-- A ledger in a key of its own:
--   t.facts                                     how many doubles judge answers after `allowed`
--   t.judge(a, key, now, cost, id, dry)         changes nothing that can be seen; dry: writes nothing at all
--   t.charge(a, key, now, cost, id)
--   t.refund(a, key, now, cost, at, reset, id)
