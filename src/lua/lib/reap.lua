-- The tasks of a dead session go back to the front, a page of them in each call: see reap.lua.
--
-- requires: base, bring_back, budget, deadline, drop_session, event, history, leases, once, stats, transitions
-- gives: reap_session

-- The history names the worker of the dead session (act_as in revoke). It dies of its crashes only when a worker leases
-- it again.
local function note_crash(P, now, id, was_alone)
  local info = P .. 'info:' .. id
  local known = call('HMGET', info, 'crashes', 'history')
  local history = history_with(known[2], history_line(now, 'recovered'))
  call('HSET', info, 'crashes', text(count_of(known[1]) + 1), 'history', history)
  if was_alone then call('HSET', info, 'alone', '1') end
end

-- The suspect that the session held (lib/flagged.lua), and how it ran: "alone": it alone had begun; "not begun": all
-- others had. nil: there is none, or it proves nothing. A later call does not find it among the leases any more: the
-- first call, which finds `#` in the hash, checks that the session held it.
local function suspect_of(lost)
  local id, how = string.match(call('HGET', lost, '#suspect') or '', '^(%S+) ?(%a*)$')
  if not id or how == 'beside' then return nil end
  if call('HEXISTS', lost, '#') == 1 and call('HEXISTS', lost, id) == 0 then return nil end
  return id, how == 'alone' and how or 'not begun'
end

-- Returns whether threads of the session are left that were woken.
local function revoke(P, session, running, lost)
  act_as(running)
  if call('EXISTS', running) == 1 then
    acting() -- reads the worker's id before the hash is renamed
    revoke_leases(running, lost)
    forget_idle(P, session)
  end
  local woken = forget_woken(P, session)
  call('ZADD', P .. 'sessions', 0, session)
  return woken
end

-- The newest leases, at most `room`: a later call puts its tasks before those that came back now. large: envelopes may
-- be large.
local function newest_leases(P, lost, room, large)
  local leases = leases_of(lost, 300)
  budget.left = budget.left - math.floor(#leases / 2)
  room = min(room, #leases)
  if large then
    local newest = {}
    for i = 1, room do newest[i] = leases[#leases - i + 1][1] end
    room = budget.fit(P, newest)
  end
  leases = {unpack(leases, #leases - room + 1)}
  budget.left = budget.left - 8 * #leases
  return leases
end

-- Counts the crashes of lost tasks, and sorts the tasks. untaken: those that were handed to a thread which did not take
-- them. A task that had not begun keeps its deadline. What is not known to have waited counts as begun. Returns the
-- sorted tasks (lib/bring_back.lua), and how many had begun.
local function sort_lost(P, now, ids, untaken, suspect, how)
  local known = call('HMGET', P .. 'tasks', unpack(ids))
  local tasks, crashes = held_tasks(), 0
  for i, id in ipairs(ids) do
    local envelope = known[i]
    local begun = not untaken[id] and (not suspect or (id == suspect) == (how == 'alone'))
    if begun then crashes = crashes + 1 end
    if begun and envelope then note_crash(P, now, id, how == 'alone') end
    if add_held(tasks, id, envelope) then
      if begun then
        envelope = drop_deadline(P, id, envelope)
        mark_info(P, id, envelope)
      else
        keep_deadline(P, id, envelope)
      end
      tasks.back[#tasks.back + 1] = id
      tasks.envelopes[#tasks.envelopes + 1] = envelope
    end
  end
  return tasks, crashes
end

-- Returns whether the hash has fields left. Without leases it has nothing but what is kept about the session, and goes.
local function is_lost_left(P, lost, count)
  local left = call('HLEN', lost)
  if left > 0 and (count == 0 or left <= 16 and #leases_of(lost, 16) == 0) then
    drop_session(P, lost)
    return false
  end
  return left > 0
end

-- At most `max` leases. large: envelopes may be large. Returns how many, and whether something of the session is left.
local function reap_session(P, now, session, in_force, max, large)
  local running, lost_key = P .. 'running:' .. session, P .. 'lost:' .. session
  local woken = revoke(P, session, running, lost_key)
  local suspect, how = suspect_of(lost_key)
  -- Without `#` a later call knows that this one was before it. `#suspect` stays where it proves something: later calls
  -- read it.
  call('HDEL', lost_key, '#', '#flushed')
  if not suspect then call('HDEL', lost_key, '#suspect') end
  local leases, ids = newest_leases(P, lost_key, budget.room(in_force and 28 or 16, 8, max), large), {}
  for i = 1, #leases do ids[i] = leases[i][1] end
  if #ids > 0 then
    local tasks, crashes = sort_lost(P, now, ids, forget_handed(P, session, leases), suspect, how)
    leave_running(lost_key, ids)
    leave_limits(P, now, in_force, tasks)
    tell_as(P, 'recovered', tasks.back)
    bring_back(P, now, tasks)
    if crashes > 0 then
      redis.pcall('HINCRBY', P .. 'counters', 'crashed', crashes)
      add_stats(P, now, 'crashed', crashes)
    end
  end
  local are_leases_left = is_lost_left(P, lost_key, #ids)
  local is_left = free_keys(P, session, budget.room(4, 8, max)) or woken or are_leases_left
  if not is_left then call('ZREM', P .. 'sessions', session) end
  return #ids, is_left
end
