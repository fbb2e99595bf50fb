-- Settling: what becomes of tasks that a session holds. Ownership is where the id stands: HDEL from the session's hash
-- must hit.
--
-- requires: base, result_block, event, limit_state, retention, dependency_edges, messages, once, options, insert, readers, reads, results, tags
-- requires: task_state, transitions
-- gives: check_records, complete, results_of, settle_plain, settle_record

-- Of ids that were to be taken out of the session's hands, `hit` were there: returns these, the others go to `refused`.
local function taken_of(P, ids, hit, refused)
  if hit == #ids then return ids end
  local mine = {}
  for i = 1, #ids do
    -- What was ours stands nowhere now. (hit = 0: the session was reaped, and all of them with it.)
    if hit > 0 and not task_state(P, ids[i]) and call('HEXISTS', P .. 'tasks', ids[i]) == 1 then
      mine[#mine + 1] = ids[i]
    else
      refused[#refused + 1] = ids[i]
    end
  end
  return mine
end

-- The results of the last so many of ids, which stand in ARGV from `at` on, or there as a bundle: id -> result; or nil.
local function results_of(ids, count, at, bundle)
  if count == 0 then return nil end
  if bundle then return (parse_bundle(ARGV[at])) end
  local results = {}
  for i = 1, count do results[ids[#ids - count + i]] = ARGV[at + i - 1] end
  return results
end

-- ids have ended well; results: as above; noted: they have an info:<id> or parents:<id>. Returns whether their records
-- are kept: where the queue keeps none, those that children may read are.
local function complete(P, ids, now, settings, results, noted)
  local age, count = keep_limits(settings[1], settings[2], DAY)
  local ended = text(now)
  if noted then readers.release_all(P, ids) end
  if age == 0 or count == 0 then
    if settings[4] then ids = readers.keep(P, ids, ended, results) end
    if #ids == 0 then return true end
    forget_tags(P, ids)
    call('HDEL', P .. 'tasks', unpack(ids))
    return false
  end
  local members, n = {}, 0
  for i = 1, #ids do
    members[n + 1], members[n + 2], n = ended, ids[i], n + 2
  end
  if noted then call('SADD', P .. 'noted', unpack(ids)) end
  local counted = results and keep_results(P, ids, results, settings[3])
  enter_completed(P, members)
  trim_count(P, 'completed', count, 2 * #ids + 16, now, true)
  if counted then
    local _, left = trim_bytes(P, number_of(settings[3], 0) or LATEST, 2 * #ids + 16, now)
    if left then announce_due(P, now) end
  end
  return true
end

-- Those ids under which a certain lease stands; the others are refused.
local function of_lease(running, lease, ids, refused)
  local held = {}
  for i = 1, #ids do
    if call('HGET', running, ids[i]) == lease then held[#held + 1] = ids[i] else refused[#refused + 1] = ids[i] end
  end
  return held
end

-- Completes those of ids that can be taken out of the session's hands. lease: unless empty, only this one is meant, and
-- not a later one by the same session. hit: so many of them were taken out; false: none yet. Returns how many there were.
local function settle_plain(P, running, lease, ids, hit, now, settings, refused, results)
  if not hit then
    if lease ~= '' then ids = of_lease(running, lease, ids, refused) end
    if #ids == 0 then return 0 end
    hit = leave_running(running, ids)
  end
  local mine = taken_of(P, ids, hit, refused)
  if #mine == 0 then return 0 end
  if settings[7] then release(P, mine, now, settings[7]) end
  complete(P, mine, now, settings, results)
  know_gate(P, settings[7])
  if settings[7] then
    act_as(running)
    tell_as(P, 'completed', mine)
  end
  if settings[4] then notify(P, mine, 'completed') end
  return #mine
end

-- What a record came to: the state that ended the task, or nil.
local function tell_outcome(P, id, ended, verb, first, kind, message)
  if ended == 'dead' then
    tell_as(P, 'dead', id, 'kind', kind, 'message', message)
  elseif ended == 'completed' then
    tell_as(P, ended, id)
  elseif ended then
    return -- (lib/cancelled.lua told it)
  elseif verb == 'retry' then
    tell_as(P, 'retry', id, 'delay', first, 'kind', kind, 'message', message)
  elseif tonumber(first) > 0 then
    tell_as(P, 'snoozed', id, 'delay', first)
  else
    tell_as(P, 'given_back', id)
  end
end

-- Looks at so many records in ARGV from `at` on. Returns where they end; or nil and what is wrong.
local function check_records(at, records)
  for _ = 1, records do
    local verb, number = ARGV[at], tonumber(ARGV[at + 2])
    if at + 4 > #ARGV then return nil, 'a record is cut off' end
    if is_no_id(ARGV[at + 1]) then return nil, 'an id is none' end
    if verb == 'hand' then
      local queue, id = string.match(ARGV[at + 2], '^([%w._-]+)/(.+)$')
      local _, fault
      if queue then _, fault = checked_options(id, ARGV[at + 3], ARGV[at + 4]) end
      if not queue or fault then return nil, 'a task handed on: ' .. (fault or 'its handle is none') end
    elseif verb == 'retry' or verb == 'snooze' then
      if not number or not is_whole(number, -INT64, INT64) then return nil, 'a delay is no whole number of ms' end
    elseif verb ~= 'done' and verb ~= 'fail' then
      return nil, 'there is no such outcome'
    end
    at = at + 5
  end
  return at
end

-- A task that another one hands on, whose completion is the next record: only if the session holds that one. What takes
-- more than a place in this queue goes through the outbox.
local function hand_on(P, running, lease, id, handle, options, rest, now)
  local held = call('HGET', running, id)
  if not held or lease ~= '' and held ~= lease then return end
  local queue, new_id = parts(handle)
  local o = options ~= '' and cjson.decode(options) or {}
  if queue == own_queue(P) and not o.unique and not o.after then
    insert_task(P, new_id, o, rest, now)
  else
    send(P, 'T', handle .. ' ' .. text(#options) .. ' ' .. options .. rest)
    announce_due(P, now)
  end
end

-- The record in ARGV from `at` on; outcomes: from outcomes.lua. Returns the state that ended the task, or nil.
local function settle_record(P, running, lease, at, outcomes, now, settings, refused)
  local id = ARGV[at + 1]
  if ARGV[at] == 'hand' then return hand_on(P, running, lease, id, ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], now) end
  -- Who records runs is told the lease that ends now.
  local ran = ARGV[at] == 'done' and find(ARGV[at + 4], 'r', 1, true) and call('HGET', running, id)
  local was_held = 0
  if lease == '' or call('HGET', running, id) == lease then was_held = leave_running(running, {id}) end
  if was_held == 0 then
    refused[#refused + 1] = id
    return
  end
  if ran then call('HSET', P .. 'info:' .. id, 'run', ran .. ' ' .. string.match(running, ':([^:]*)$')) end
  know_gate(P, settings[7])
  act_as(running)
  if settings[7] then
    if ARGV[at] == 'snooze' and tonumber(ARGV[at + 2]) <= 0 then
      local envelope = call('HGET', P .. 'tasks', id)
      if envelope then call_first(P, {id}, {envelope}, settings[7]) end
    end
    release(P, {id}, now, settings[7], ARGV[at] == 'retry' or ARGV[at] == 'snooze')
  end
  if ARGV[at] == 'done' and find(ARGV[at + 4], 'k', 1, true) then keep_key(P, running, id) end
  local ended = outcomes[ARGV[at]](P, id, now, settings, ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
  if tells(P) then tell_outcome(P, id, ended, ARGV[at], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]) end
  if ended and settings[4] then notify(P, {id}, ended) end
  return ended
end
