-- What every twin may use. Numbers are compared as in limit.ts.
local floor, max, min, exp, log, huge = math.floor, math.max, math.min, math.exp, math.log, math.huge
local pack, parse = struct.pack, struct.unpack
local call, concat = redis.call, table.concat

-- Whole sums are compared exactly, sums with fractions with a tolerance of 1e-9 of the limit.
local function exceeds(sum, limit)
  return sum > limit and (floor(sum) == sum or sum > limit * (1 + 1e-9))
end

-- twin(kind, make) is what each algorithm's file says; make answers its table t, and runs only in batches that use it.
-- Constant state, of up to three cells c1 to c3 (zeros when fresh):
--   t.step(a, now, cost, c1, c2, c3)            answers allowed, then the successor if the hit is charged: its expiry and
--                                               the cells. A refused hit that counts is charged with its share of the cost
--   t.slack                                     share by which the expiry is set longer, so that it seldom has to move
--   t.refund(a, now, cost, at, reset, c1, c2, c3) answers the cells after giving back
--   t.offend(a, now, c1, c2, c3)                only of a limit that counts offences: answers until when the key is held
--                                               (0: not yet), the expiry and the cells after an offence
--   What step needs stands with it and slack between @step and @end: the unrolled questions take these lines alone.
-- A ledger in a key of its own:
--   t.facts                                     how many doubles judge answers after `allowed`
--   t.judge(a, key, now, cost, id, dry)         changes nothing that can be seen; dry: writes nothing at all
--   t.charge(a, key, now, cost, id)
--   t.refund(a, key, now, cost, at, reset, id)
