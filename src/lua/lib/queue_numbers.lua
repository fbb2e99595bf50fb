-- A queue in numbers, as stat.lua returns them.
--
-- requires: base, counts, state_kinds
-- gives: numbers_of

local function numbers_of(P)
  local running = count_running(P)
  local totals = call('HMGET', P .. 'counters', 'completed', 'failed', 'dead', 'crashed', 'cancelled', 'enqueued_extra')
  local head = call('ZRANGE', P .. 'ready', 0, 0)[1]
  if head and byte(head) == SEGMENT then head = call('LINDEX', P .. 'segment:' .. sub(head, 2), 0) end
  local envelope = head and call('HGET', P .. 'tasks', head) or ''
  local due = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')[2]
  local now = clock()
  local PAUSED, PAUSED_UNTIL = 1, 2
  local settings = call('HMGET', P .. 'settings', 'paused', 'paused_until', 'concurrency', 'rate', 'group_concurrency', 'group_rate')
  if settings[PAUSED_UNTIL] and count_of(settings[PAUSED_UNTIL]) <= now then settings[PAUSED_UNTIL] = false end
  for i = 1, 6 do totals[i] = tonumber(totals[i]) or 0 end
  local COMPLETED, DEAD, CANCELLED, EXTRA = 1, 3, 5, 6
  -- Each task that ever came has not ended, or it ended last in one of these ways; see `counters` in docs/protocol.md.
  local enqueued = totals[COMPLETED] + totals[DEAD] + totals[CANCELLED] + totals[EXTRA]
  local reply = {settings[PAUSED] and 1 or 0}
  for _, state in ipairs({@SHOWN_STATES@}) do
    local count = state == 'ready' and count_ready(P, running) or state == 'running' and running or call('ZCARD', P .. state)
    if not is_ended(state) then enqueued = enqueued + count end
    reply[#reply + 1] = count
  end
  for i = 1, 5 do reply[#reply + 1] = totals[i] end
  reply[#reply + 1] = max(enqueued, 0)
  reply[#reply + 1] = sub(envelope, 1, (find(envelope, '\n', 1, true) or 1) - 1)
  reply[#reply + 1] = tonumber(due) or -1
  reply[#reply + 1] = now
  for i = 1, 6 do reply[#reply + 1] = settings[i] or '' end
  return reply
end
