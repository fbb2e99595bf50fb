-- The first member of a sorted set of times.
--
-- requires: base
-- gives: first_time

-- Returns its time in ms, or nil if the set is empty.
local function first_time(P, set)
  return tonumber(call('ZRANGE', P .. set, 0, 0, 'WITHSCORES')[2])
end
