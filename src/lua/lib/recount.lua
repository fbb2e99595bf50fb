-- Recounts running tasks for limits: a count that is too high would block its queue or group for ever.
--
-- requires: base, count_page, counts, slot
-- gives: recount

-- The running tasks of the queue. Only if it has few sessions.
local SESSIONS_MOST = 50
local function recount_running(P)
  if call('ZCARD', P .. 'sessions') > SESSIONS_MOST then return end
  local running, counted = count_running(P), tonumber(call('HGET', P .. 'limit_state', 'running')) or 0
  if running ~= counted then call('HSET', P .. 'limit_state', 'running', text(running)) end
end

local function has_ended(P, id)
  return call('HEXISTS', P .. 'tasks', id) == 0 or is_in(P, {@ENDED_SETS@}, id)
end

-- Checks some tasks that count for their groups, and releases the slots of those that have ended. Such a task stays
-- counted if another program overwrote its envelope, so that the script that ended it did not know its group. HSCAN
-- returns a small hash as one page, so the time decides which part of the page is checked.
local function free_ended_slots(P, now)
  local found = call('HSCAN', P .. 'running_group', text(now % 65536), 'COUNT', '4')[2]
  local count = #found / 2
  for i = now, now + math.min(count, 8) - 1 do
    local id = found[2 * (i % count) + 1]
    if has_ended(P, id) then leave_slot(P, id) end
  end
end

-- The running tasks of groups. Only if they are few. If there is no session, no task runs, and only waiting tasks of
-- strict groups count. Returns whether a group may start more tasks now.
local SLOTS_MOST = 50
local function recount_slots(P, now)
  if call('EXISTS', P .. 'running_group', P .. 'group_running') == 0 or call('HEXISTS', P .. 'limit_state', 'counting') == 1 then return end
  free_ended_slots(P, now)
  if math.max(call('HLEN', P .. 'running_group'), call('HLEN', P .. 'group_running')) > SLOTS_MOST then return end
  local running, known, counts, opens = call('HGETALL', P .. 'running_group'), call('HGETALL', P .. 'group_running'), {}, false
  local idle = call('EXISTS', P .. 'sessions') == 0
  for i = 1, #running, 2 do
    if not idle or is_in(P, {@WAITING_SETS@}, running[i]) then
      for group in groups_in(running[i + 1]) do counts[group] = (counts[group] or 0) + 1 end
    else
      call('HDEL', P .. 'running_group', running[i])
    end
  end
  for i = 1, #known, 2 do
    local count = counts[known[i]]
    if count ~= tonumber(known[i + 1]) then
      if count then call('HSET', P .. 'group_running', known[i], text(count)) else call('HDEL', P .. 'group_running', known[i]) end
      if call('EXISTS', P .. 'parked:' .. known[i]) == 1 then
        call('ZADD', P .. 'limit_due', text(now), known[i])
        opens = true
      end
    end
  end
  return opens
end

-- flags: settings.in_force. Returns whether a group may start more tasks now.
local function recount(P, flags, now)
  if find(flags, 'c', 1, true) then recount_running(P) end
  return find(flags, 's', 1, true) and recount_slots(P, now)
end
