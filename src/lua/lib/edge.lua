-- Which edges between tasks count (lib/dependency_edges.lua).
--
-- requires: add_to, base
-- gives: is_made, is_meant

-- Whether what is told is meant for this edge, and not for an earlier one to the same parent. number: of the edge that
-- it was told of; nil, "" or a time in ms: that is not known.
local function is_meant(edge, number)
  local own = match(edge, ' (%d+)$')
  number = tonumber(number) or 0
  return not own or number < 100000000000000 or tonumber(own) == number
end

-- Whether an edge counts in `pending`; restoring: that field. While a child's edges are made again (lib/restore.lua),
-- those with lower numbers or none are still to be made. What is no number says nothing.
local function is_made(edge, restoring)
  return not restoring or not says_count(restoring) or (tonumber(match(edge, ' (%d+)$')) or 0) >= tonumber(restoring)
end
