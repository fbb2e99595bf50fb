-- Repairs of findings about states (lib/check_states.lua). A repair is a function of the subject and of what was found;
-- what it repairs was found in this call.
--
-- requires: base, check_states, death, dependency_edges, group_place, put_aside, retention, segment, transitions
-- gives: repair_lease_malformed, repair_lost, repair_twice, repair_without_task

-- What a task that is in no state was, as far as its data tell: completed, if it has a result of its own; as its
-- history ends; blocked, if a parent has not ended. Else nil.
local function former_state(P, id)
  if call('HEXISTS', P .. 'results', id) == 1 then return 'completed' end
  local known = call('HMGET', P .. 'info:' .. id, 'history', 'pending')
  local last = known[1] and decoded(match(known[1], '([^\n]*)\n?$'))
  if last and (last.what == 'dead' or last.what == 'cancelled') then return last.what end
  return known[2] and 'blocked' or nil
end

-- task_lost: it returns to the state that it had, or becomes ready by way of `scheduled`. One that runs at most once
-- may have run.
local function repair_lost(P, id)
  local state, now, envelope = former_state(P, id), clock(), call('HGET', P .. 'tasks', id)
  if state == 'completed' then
    enter_completed(P, {text(now), id})
    if call('EXISTS', P .. 'info:' .. id, P .. 'parents:' .. id) > 0 then call('SADD', P .. 'completed_extra', id) end
  elseif state == 'cancelled' then
    enter_cancelled(P, id, text(now))
  elseif state == 'dead' then
    local kind = call('HGET', P .. 'info:' .. id, 'kind') or 'lost'
    call('HSET', P .. 'info:' .. id, 'kind', kind)
    enter_dead(P, id, text(now))
    call('ZADD', P .. 'failures', text(now), kind)
    call('ZADD', P .. 'failures:' .. kind, text(now), id)
  elseif state == 'blocked' then
    enter_blocked(P, id, text(now))
  elseif find(match(envelope, '^[^\n]*'), '"at_most_once":1', 1, true) then
    dies(P, id, now, 'lost', 'the task was in no state; it runs at most once, and may have run')
  else
    put_aside(P, id)
  end
  if state and state ~= 'blocked' then notify(P, {id}, state) end
end

-- The state that is kept, the first of these: what has ended does not run again, and what runs is not leased a second
-- time.
local KEPT = {['completed'] = 1, ['retained'] = 2, ['dead'] = 3, ['cancelled'] = 4, ['running'] = 5, ['lost'] = 5, ['blocked'] = 6,
  ['scheduled'] = 7, ['parked'] = 8, ['ready'] = 9, ['segment'] = 10}
local function is_before(a, b)
  local rank, other = KEPT[match(a[1], '^%a+')], KEPT[match(b[1], '^%a+')]
  if rank ~= other then return rank < other end
  -- Of two leases the newer one.
  return (tonumber(match(a[2] or '', '^%d+')) or 0) > (tonumber(match(b[2] or '', '^%d+')) or 0)
end

local function leave(P, id, key, envelope)
  if match(key, '^segment:') then
    leave_segment(P, id, envelope)
    return leave_ready(P, {id})
  end
  if match(key, '^running:') or match(key, '^lost:') then return leave_running(P .. key, {id}) end
  if key == 'blocked' then return leave_parents(P, id) end
  if key == 'dead' then unindex(P, id) end
  leave_state(P, key, id)
  if key == 'ready' or key == 'parked' then leave_groups(P, id, envelope) end
end

-- task_twice: it stays in one state.
local function repair_twice(P, id)
  local places, envelope = places_of(P, id), call('HGET', P .. 'tasks', id)
  table.sort(places, is_before)
  for i = 2, #places do leave(P, id, places[i][1], envelope) end
  -- Tasks that wait for it may not have been told.
  local kept = places[1][1]
  if kept == 'completed' or kept == 'dead' or kept == 'cancelled' then notify(P, {id}, kept) end
end

-- state_without_task: the id leaves the key, and what counts it is found by itself.
local function repair_without_task(P, subject)
  local key, id = match(subject, '^(%S+) (.*)$')
  if match(key, '^running:') or match(key, '^lost:') then
    leave_running(P .. key, {id})
  else
    if key == 'dead' then unindex(P, id) end
    leave_state(P, key, id)
  end
end

-- lease_malformed: the lease goes. No thread knows it.
local function repair_lease_malformed(P, subject)
  local key, id = match(subject, '^(%S+) (.*)$')
  leave_running(P .. key, {id})
  if call('HEXISTS', P .. 'tasks', id) == 1 and #places_of(P, id) == 0 then repair_lost(P, id) end
end
