-- A step of maintain.lua where settings.in_force is set: a pause for a time ends, of the queue or of a group, and what
-- limits count is counted again.
--
-- requires: base, budget, count_page, first_time, forget_past, limit_state, listening, recount
-- gives: renew_limits
-- fields: renew_limits

-- A part of what limits count is counted again. Returns whether there is more to do at once.
local function count_again(P, now, in_force)
  local is_counting = find(in_force, 's', 1, true) and call('HEXISTS', P .. 'limit_state', 'counting') == 1
  -- A task that leaves its slot lets its group go on in the next call.
  if is_counting then count_page(P, now, budget.room(4, 16, 200)) end
  return recount(P, in_force, now) or is_counting
end

-- Ends what lasts until a time: a pause of the queue for a time (settings.paused_until), events that somebody listens
-- to, and the wait for the queue's rate. Returns {due, shut}. shut: no task starts before a time to come.
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

-- Some breakers that are closed: what they count goes when its window is over.
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
