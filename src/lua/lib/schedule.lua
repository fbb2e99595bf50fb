-- A task waits for its time; schedulers hear of it when it is the first.
local function schedule(P, id, due)
  due = math.min(due, LATEST)
  local head = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'scheduled', text(due), id)
  if not head[2] or due < tonumber(head[2]) then announce_due(P, due) end
end
