-- Leasing, the careful path ("Two paths" in turn.lua): moves ids from `ready` into the session's hash. It applies
-- limits, takes tasks out of segments, and reads info:<id> of tasks whose envelopes are marked (has_info in
-- lib/base.lua). lib/turn_lease.lua has the common path.
--
-- requires: allowed, base, event, limited_lease, flagged, put_aside, segment, transitions, turn_settings, wake_one
-- gives: lease
-- fields: dealt, index, looks, names, rules, session_stands

-- Returns how many of the first ids to take. A task with a marked envelope may have to run alone, or not now
-- (lib/flagged.lua). company: tasks were leased before in this call.
local function cut(P, running, ids, envelopes, company, extras, now)
  for i = 1, #ids do
    if envelopes[i] and is_no_id(ids[i]) then
      if i > 1 then return i - 1 end
      leave_ready(P, {ids[i]})
      put_aside(P, ids[i])
      return 0
    end
    if envelopes[i] and has_info(envelopes[i]) then
      local how = flagged.weigh(P, running, ids[i], envelopes[i], i == 1 and not company, extras)
      if how == 'off' then
        flagged.off(P, ids[i], tonumber(call('ZSCORE', P .. 'ready', ids[i])), now)
        leave_ready(P, {ids[i]})
        return 0
      end
      if how == 'stop' then return i - 1 end
      if how == 'alone' then return 1 end
    end
  end
  return #ids
end

-- Returns how many of the first ids fit into REPLY_BYTES with their envelopes, at least one. Called only if envelopes
-- may be large.
local REPLY_BYTES = @REPLY_BYTES_MAX@
local function fit(P, ids)
  local bytes = 0
  for i = 1, #ids do
    bytes = bytes + call('HSTRLEN', P .. 'tasks', ids[i])
    if bytes > REPLY_BYTES then return max(1, i - 1) end
  end
  return #ids
end

-- ids: the first of `ready`. Returns the ids to lease, their envelopes, how many of the ids are taken, and whether
-- there are more. line: a function that returns the text of the n-th lease.
local function choose(P, limits, o, running, line, ids, want)
  local more = #ids > want
  if limits and limits.by_group then
    local admitted, envelopes, is_more = limits_admit(limits, running, line, want, o.has_company, o.extras, flagged, o.rules[LARGE_TASKS])
    return admitted, envelopes, #admitted, is_more
  end
  for i = #ids, want + 1, -1 do ids[i] = nil end
  local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
  local taken = cut(P, running, ids, envelopes, o.has_company, o.extras, o.now)
  return ids, envelopes, limits and limits_pay(limits, envelopes, taken) or taken, more
end

-- Writes the leases of the first `taken` ids. have_leases: they are written already, in a queue with limits of groups.
-- Returns the list of the reply, and the leased ids: not those without an envelope, whose tasks are deleted. The caller
-- removes the tasks from `ready` afterwards.
local function write_leases(o, running, line, ids, envelopes, taken, have_leases)
  local fields, reply, leased = {}, {o.index}, {}
  for i = 1, taken do
    if envelopes[i] then
      fields[#fields + 1], fields[#fields + 2] = ids[i], line(#leased + 1)
      reply[#reply + 1], reply[#reply + 2] = ids[i], envelopes[i]
      leased[#leased + 1] = ids[i]
    end
  end
  if #leased > 0 and not have_leases then enter_running(running, fields) end
  return reply, leased
end

-- Returns the limits of the queue, or nil, and how many tasks may start now, at most `want`.
local function open_limits(P, o)
  local flags = o.rules[IN_FORCE]
  know_in_force(P, flags)
  if not flags or flags == 'e' then return nil, o.want end
  local limits = limits_open(P, o.now, flags)
  -- Tasks leave `ready` before they are written to the keys of limits: so missing rights are found here.
  local refusal = limits.by_group and rights_fault(P, 'HSET ZADD')
  if refusal then error({err = refusal}) end
  return limits, limits_room(limits, o.want, o.names, o.dealt)
end

-- The thread that the n-th task is for.
local function thread_of(o, n)
  return o.names and o.names[o.dealt + n] or o.thread
end

-- Writes the event of the leases: one for all, or one for each task if they are for several threads.
local function tell_leased(P, running, o, leased)
  if #leased == 0 or not tells(P) then return end
  act_as(running)
  for i = 1, o.names and #leased or 1 do tell_as(P, 'leased', o.names and leased[i] or leased, 'thread', thread_of(o, i)) end
end

-- Leases up to o.want tasks to a session. o: index (of the queue in the reply), session, want, thread, names and dealt
-- (as in lib/limited_lease.lua), now, rules (settings, lib/turn_settings.lua), extras (a list to which it adds what the
-- reply tells of tasks), has_company (tasks were leased before in this call), session_stands (the session is known to
-- exist), looks (nothing is leased; the call only asks whether the session exists). Returns the list of the reply,
-- {index, id, envelope, ...}; nil if nothing is leased; or false if the session does not exist. The second value says
-- whether a limit lets no more tasks start.
local function lease(P, o)
  local limits, want = open_limits(P, o)
  if want <= 0 then return nil, true end
  -- One more than is wanted: it shows whether another thread is to be woken.
  unfold(P, 0, want)
  local ids = call('ZRANGE', P .. 'ready', 0, want)
  if #ids == 0 then return nil end
  if o.rules[LARGE_TASKS] then want = min(want, fit(P, ids)) end
  local running = P .. 'running:' .. o.session
  if not o.session_stands and call('HEXISTS', running, '#') == 0 then
    -- The session has not begun, or has ended. Its caller may have died, and comes again only if it lives: so another
    -- thread is woken.
    wake_one(P)
    return false
  end
  if o.looks then return nil end
  local envelopes, taken, more
  local has_groups = limits and limits.by_group
  local function line(n)
    return text(o.now) .. ' ' .. thread_of(o, n)
  end
  ids, envelopes, taken, more = choose(P, limits, o, running, line, ids, want)
  if taken == 0 then
    if more or #ids > 0 then wake_one(P) end
    return nil
  end
  local reply, leased = write_leases(o, running, line, ids, envelopes, taken, has_groups)
  if not has_groups then
    local fault = leave_ready_first(P, taken)
    if type(fault) == 'table' then
      -- The tasks stay ready; with these leases they would run twice.
      if #leased > 0 then leave_running(running, leased) end
      error(fault)
    end
  end
  tell_leased(P, running, o, leased)
  if limits then limits_take(limits, leased) end
  if (more or taken < #ids) and not (limits and limits.shut) then wake_one(P) end
  return reply, limits and limits.shut
end
