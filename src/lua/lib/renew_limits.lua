-- A step of maintain.lua, if the queue has limits or events (settings.in_force): ends pauses for a time, of the queue
-- or of groups, and recounts the tasks that limits count.
--
-- requires: base, budget, count_page, first_time, forget_past, limit_state, listening, recount
-- gives: renew_limits
-- fields: renew_limits

-- Recounts some of the tasks that limits count. Returns whether there is more to do now.
local function count_again(P, now, in_force)
  local is_counting = find(in_force, 's', 1, true) and call('HEXISTS', P .. 'limit_state', 'counting') == 1
  -- If a task releases its slot here, its group continues in the next call.
  if is_counting then count_page(P, now, budget.room(4, 16, 200)) end
  return recount(P, in_force, now) or is_counting
end

-- Ends what has an end time that is over: a pause of the queue for a time (settings.paused_until), events for listeners
-- (events_until), and the wait for the rate of the queue (`opens`). Returns {due, shut}. due: the next such time, or
-- that of a paused group; shut: the queue starts no task before one of these times.
local function end_waits(P, now)
  local known = call('HMGET', P .. 'settings', 'paused_until', 'events_until')
  local paused_until, listened_until = number_of(known[1], 0), number_of(known[2], 0)
  local due = math.huge
  if paused_until and paused_until <= now then
    call('HDEL', P .. 'settings', 'paused_until')
    paused_until = false
  end
  if listened_until and listened_until <= now then
    call('HDEL', P .. 'settings', 'events_until')
    listened_until = false
    switch_events(P)
  else
    renew_in_force(P)
  end
  local opens = tonumber(call('HGET', P .. 'limit_state', 'opens'))
  if opens and opens <= now then
    call('HDEL', P .. 'limit_state', 'opens')
    opens = nil
  end
  local held = first_time(P, 'paused_groups')
  for _, time in pairs({paused_until or nil, listened_until or nil, opens, held}) do due = math.min(due, time) end
  return {due = due < math.huge and due or nil, shut = opens ~= nil or paused_until and true}
end

-- Removes counters of some closed circuit breakers whose window is over (lib/breaker.lua).
local function forget_breakers(P, now)
  local found = call('HSCAN', P .. 'breakers', text(now % 65536), 'COUNT', '8')[2]
  local window = number_of(call('HGET', P .. 'settings', 'group_breaker_window'), 1) or @BREAKER_WINDOW_MS@
  for i = 1, min(#found, 32), 2 do
    local since = match(found[i + 1], '^c (%d+) ')
    if since and now - since > window and sub(found[i], 1, 2) == 'g:' then call('HDEL', P .. 'breakers', found[i]) end
  end
end

-- in_force: the value of settings.in_force. Returns {more, due, shut}.
local function renew_limits(P, now, in_force, max)
  local more = count_again(P, now, in_force)
  if find(in_force, 'b', 1, true) then forget_breakers(P, now) end
  local pauses, rates = forget_past(P, 'paused_groups', now, max), forget_past(P, 'rates', now, max)
  local waits = end_waits(P, now)
  return {more = more or pauses or rates, due = waits.due, shut = waits.shut}
end
