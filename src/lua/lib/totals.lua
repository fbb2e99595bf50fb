-- Totals of a queue since it was created: the hash `counters`. A total is a notice: where another program has written
-- what is no number, that one is not counted, and all else goes on.
--
-- gives: count_total

local function count_total(P, name, by)
  redis.pcall('HINCRBY', P .. 'counters', name, by or 1)
end
