-- A task becomes scheduled, behind the tasks with the same time. If it is due before all others, the schedulers are
-- notified.
--
-- requires: base, ties, transitions
-- gives: put_off, ready_from, schedule

local function schedule(P, id, due)
  due = min(due, LATEST)
  local head = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')
  enter_scheduled_at(P, id, exact(score_behind(P .. 'scheduled', due)))
  if not head[2] or due < tonumber(head[2]) then announce_due(P, due) end
end

-- Writes to the header of a task, as "due", since when it waits for a thread; the worker that leases it computes its
-- waiting time from that. 0: its handler or a person requested the delay, so it does not count as waiting time. 0 is
-- not overwritten.
local function ready_from(P, id, envelope, since)
  local line_end = find(envelope, '\n', 1, true) or 1
  local head, tail = match(sub(envelope, 1, line_end - 1), '^(.-"type":"[^"]*")(.*)$')
  if not head or find(tail, '^,"due":0[,}]') then return end
  tail = string.gsub(string.gsub(tail, '^,"due":%d+', ''), '^,"delay":%d+', '')
  call('HSET', P .. 'tasks', id, head .. ',"due":' .. text(since) .. tail .. sub(envelope, line_end))
end

-- The delay of the task was requested by its handler, or manually.
local function put_off(P, id, envelope)
  ready_from(P, id, envelope, 0)
end
