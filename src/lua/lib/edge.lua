-- Decides which edges and notifications count (lib/dependency_edges.lua).
--
-- requires: add_to, base
-- gives: is_made, is_meant

-- Whether a notification is about this edge, and not about an earlier one to the same parent. number: of the edge that
-- the notification names; nil, "" or a time in ms: not known.
local function is_meant(edge, number)
  local own = match(edge, ' (%d+)$')
  number = tonumber(number) or 0
  return not own or number < 100000000000000 or tonumber(own) == number
end

-- Whether an edge counts in `pending`. restoring: the field of this name. While the edges of a child are made again
-- (lib/restore.lua), edges with lower numbers, or none, do not count yet. A value that is no number is ignored.
local function is_made(edge, restoring)
  return not restoring or not says_count(restoring) or (tonumber(match(edge, ' (%d+)$')) or 0) >= tonumber(restoring)
end
