-- A task waits for its time, behind the tasks that wait for the same time. Schedulers are notified when it is the
-- first.
--
-- requires: base, ties, transitions
-- gives: put_off, ready_from, schedule

local function schedule(P, id, due)
  due = min(due, LATEST)
  local head = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')
  enter_scheduled_at(P, id, exact(score_behind(P .. 'scheduled', due)))
  if not head[2] or due < tonumber(head[2]) then announce_due(P, due) end
end

-- Records in a task's header since when it is ready, for the worker that leases it. 0: its wait was requested, by its
-- handler or manually, and does not count as waiting time; this stays so.
local function ready_from(P, id, envelope, since)
  local line_end = find(envelope, '\n', 1, true) or 1
  local head, tail = match(sub(envelope, 1, line_end - 1), '^(.-"type":"[^"]*")(.*)$')
  if not head or find(tail, '^,"due":0[,}]') then return end
  tail = string.gsub(string.gsub(tail, '^,"due":%d+', ''), '^,"delay":%d+', '')
  call('HSET', P .. 'tasks', id, head .. ',"due":' .. text(since) .. tail .. sub(envelope, line_end))
end

-- By its handler or manually.
local function put_off(P, id, envelope)
  ready_from(P, id, envelope, 0)
end
