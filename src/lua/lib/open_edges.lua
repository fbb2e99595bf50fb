-- What a task waited for before, and does not wait for again.
--
-- requires: base, dependency_edges
-- gives: forget_open_edges

-- A task that is not blocked does not wait again for what it waited for before (a death was met; it died and was
-- retried): its edges that had not ended are forgotten, and where there are many, the others with them.
local function forget_open_edges(P, id, count)
  local key, open = P .. 'parents:' .. id, {}
  if count > @EDGES_AT_ONCE@ then return leave_parents(P, id, true) end
  leave_parents(P, id)
  local known = call('HGETALL', key)
  for i = 1, #known, 2 do
    if sub(known[i + 1], 2, 2) == '-' then open[#open + 1] = known[i] end
  end
  if #open > 0 then call('HDEL', key, unpack(open)) end
end
