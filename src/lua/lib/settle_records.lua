-- Settling records: outcomes other than plain completions, of five arguments each, which the head of turn.lua
-- describes. As with a plain completion, an outcome is accepted if HDEL removes the id from the session's hash.
--
-- requires: base, breaker, chained, event, limit_state, dependency_edges, once, outcomes, transitions, turn_settings
-- gives: check_records, settle_records

-- Checks `records` records from ARGV[at] on. Returns the place behind them; or 0 and the fault.
local function check_records(at, records)
  for _ = 1, records do
    local verb, number = ARGV[at], tonumber(ARGV[at + 2])
    if at + 4 > #ARGV then return 0, 'a record is cut off' end
    if is_no_id(ARGV[at + 1]) then return 0, 'an id is none' end
    if verb == 'chain' then
      local fault = chained_fault(ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
      if fault then return 0, fault end
    elseif verb == 'retry' or verb == 'snooze' then
      if not number or not is_whole(number, -INT64, INT64) then return 0, 'a delay is no whole number of ms' end
    elseif verb == 'crash' then
      if not number or not is_whole(number, 0, INT64) then return 0, 'a number of crashes is none' end
    elseif verb ~= 'done' and verb ~= 'fail' and verb ~= 'cancel' then
      return 0, 'there is no such outcome'
    end
    at = at + 5
  end
  return at
end

-- Writes the event of a record. ended: the state in which the task ended, or nil.
local function tell_outcome(P, id, ended, verb, first, kind, message)
  if ended == 'dead' then
    tell_as(P, 'dead', id, 'kind', kind, 'message', message)
  elseif ended == 'completed' then
    tell_as(P, ended, id)
  elseif ended or verb == 'cancel' then
    return -- lib/cancelled.lua told it
  elseif verb == 'crash' then
    tell_as(P, 'recovered', id, 'kind', kind, 'message', message)
  elseif verb == 'retry' then
    tell_as(P, 'retry', id, 'delay', first, 'kind', kind, 'message', message)
  elseif tonumber(first) > 0 then
    tell_as(P, 'snoozed', id, 'delay', first)
  else
    tell_as(P, 'given_back', id)
  end
end

-- Enqueues a chained task if the session holds the task `id` that chained it. The next record completes `id`: so both
-- records count, or neither.
local function settle_chained(P, running, lease, id, handle, options, rest, now)
  local held = call('HGET', running, id)
  if not held or lease ~= '' and held ~= lease then return end
  enqueue_chained(P, handle, options, rest, now)
end

-- Whether the attempt failed; nil: it neither failed nor completed.
local function has_failed(verb, first)
  if verb == 'done' then return false end
  return (verb == 'retry' or verb == 'fail' and first == '1' or verb == 'crash' and first ~= '0') or nil
end

-- Settles one record. Returns the state in which the task ended, or nil.
local function settle_record(P, running, lease, now, settings, refused, verb, id, first, second, third)
  if verb == 'chain' then return settle_chained(P, running, lease, id, first, second, third, now) end
  -- If the runs of the task are recorded, `show` tells by which lease it ran last.
  local ran = verb == 'done' and find(third, 'r', 1, true) and call('HGET', running, id)
  local was_held = 0
  if lease == '' or call('HGET', running, id) == lease then was_held = leave_running(running, {id}) end
  if was_held == 0 then
    refused[#refused + 1] = id
    return
  end
  if ran then call('HSET', P .. 'info:' .. id, 'run', ran .. ' ' .. match(running, ':([^:]*)$')) end
  know_in_force(P, settings[IN_FORCE])
  act_as(running)
  local groups = breaker.groups(P, {id}, settings[IN_FORCE])
  if settings[IN_FORCE] then
    if verb == 'crash' or verb == 'snooze' and tonumber(first) <= 0 then
      local envelope = call('HGET', P .. 'tasks', id)
      if envelope then call_first(P, {id}, {envelope}, settings[IN_FORCE]) end
    end
    release(P, {id}, now, settings[IN_FORCE], verb == 'retry' or verb == 'snooze' or verb == 'crash')
  end
  if verb == 'done' and find(third, 'k', 1, true) then keep_key(P, running, id) end
  local ended, failed = outcomes[verb](P, id, now, settings, first, second, third), has_failed(verb, first)
  if verb == 'crash' then second, third = 'crash', second end
  if tells(P) then tell_outcome(P, id, ended, verb, first, second, third) end
  if groups and failed ~= nil then breaker.count(P, {id}, groups, now, failed) end
  if ended and settings[WAITERS] then notify(P, {id}, ended) end
  return ended
end

-- Settles `records` records from `at` of ARGV on, one after the other, and counts those that completed.
local function settle_records(P, running, lease, at, records, now, settings, refused)
  local completed = 0
  now = tonumber(now)
  for _ = 1, records do
    if settle_record(P, running, lease, now, settings, refused, unpack(ARGV, at, at + 4)) == 'completed' then
      completed = completed + 1
    end
    at = at + 5
  end
  if completed > 0 then redis.pcall('HINCRBY', P .. 'counters', 'completed', text(completed)) end
end
