-- A task waits for its time; schedulers hear of it when it is the first.
local function schedule(P, id, due)
  due = math.min(due, LATEST)
  local head = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'scheduled', text(due), id)
  if not head[2] or due < tonumber(head[2]) then announce_due(P, due) end
end

-- By its handler or by hand: how long it waits is no more than somebody's wish. Says so in its header, once, for the
-- worker that leases it.
local function put_off(P, id, envelope)
  local line_end = find(envelope, '\n', 1, true)
  local head, tail = string.match(sub(envelope, 1, line_end - 1), '^(.-"type":"[^"]*")(.*)$')
  if not head or find(tail, '^,"due":0[,}]') then return end
  tail = string.gsub(string.gsub(tail, '^,"due":%d+', ''), '^,"delay":%d+', '')
  call('HSET', P .. 'tasks', id, head .. ',"due":0' .. tail .. sub(envelope, line_end))
end
