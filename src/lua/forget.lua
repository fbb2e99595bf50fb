#!lua flags=allow-oom
-- forget: a queue goes, with its settings, statistics and events; and with its tasks, if that is asked for. In steps.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  letters: t: its tasks are deleted; s: also while sessions lease from it
-- ARGV[2]  how many tasks to delete at most; fewer where the call has done enough (lib/budget.lua)
-- ARGV[3]  the cursor: "0" at first, then what the last reply said
-- reply    [1] "served": [2] sessions lease from it; "tasks": it has [2] tasks; "cron": it has [2] recurring entries;
--              nothing was done
--              "more": [2] tasks were deleted, call again; "messages": the same, and tasks here or in other queues are
--              still to hear of ends (fan.lua, outbox.lua); "forgotten": [2] of its keys were there and are gone
--          [2] a number
--          [3] the next cursor
--
-- A task that runs loses its lease, and its worker is told (lib/revoke.lua). Tasks that wait for one of this queue hear
-- that it was deleted. What is left expires: unique keys that are held for a time, `received:<queue>`,
-- `replaced_by:<id>`, `bulk_closed:<p>`. Sent twice: the second call finds less to do.
-- require: base
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, budget, sequence, schedule, event, history, retention, unique, dependency_edges, task_state
return (function()
-- require: control, leases, limit_state, revoke, wake_all, whole

local P, letters, most, cursor = KEYS[1], ARGV[1] or '', whole(ARGV[2], 1, INT64), ARGV[3] or '0'
if not find(letters, '^[ts]*$') or not most or not find(cursor, '^%d+$') or #cursor > 20 then
  return redis.error_reply('ERR @NAME@: it takes letters of "ts", how many tasks to delete, and a cursor')
end
do
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end
local now, in_force = clock(), call('HGET', P .. 'settings', 'in_force')

local function delete_task(id, envelope)
  local state, _, session, lease = searched_state(P, id)
  if state == 'running' then
    revoke(P, id, {session = session, lease = lease})
    if in_force then release(P, {id}, now, in_force) end
    state = nil
  end
  remove(P, id, envelope, state)
end

-- Returns how many were deleted, and the next cursor.
local function delete_tasks()
  local large, deleted = call('HGET', P .. 'settings', 'large'), 0
  local page = call('HSCAN', P .. 'tasks', cursor, 'COUNT', text(min(most, large and 8 or 100)))
  local found = page[2]
  for i = 1, #found, 2 do
    if deleted >= most or deleted > 0 and budget.left <= 0 then return deleted, cursor end
    delete_task(found[i], found[i + 1])
    deleted = deleted + 1
  end
  return deleted, page[1]
end

-- Up to PAGE members of a sorted set go, with the keys that each names. Returns whether there were any.
local PAGE = 200
local function drop_named(set, ...)
  local names, keys = call('ZRANGE', P .. set, 0, PAGE - 1), {}
  if #names == 0 then return false end
  for _, name in ipairs(names) do
    for _, kind in ipairs({...}) do keys[#keys + 1] = P .. kind .. ':' .. name end
  end
  if #keys > 0 then call('UNLINK', unpack(keys)) end
  call('ZREM', P .. set, unpack(names))
  return true
end

local function drop_sessions()
  local sessions = call('ZRANGE', P .. 'sessions', 0, 9)
  for _, session in ipairs(sessions) do
    forget_idle(P, session)
    while forget_woken(P, session) do end
    for _, kind in ipairs({'running:', 'lost:', 'once:', 'woken:'}) do call('UNLINK', P .. kind .. session) end
    call('ZREM', P .. 'sessions', session)
  end
  return #sessions > 0
end

-- Some members of a set. The right to this command is only needed where there are many.
local function some_of(set)
  local members = redis.pcall('SRANDMEMBER', P .. set, '20')
  return members.err and call('SMEMBERS', P .. set) or members
end

-- Tasks of other queues that wait for one which has yet to come here.
local function tell_expecting()
  local ids = some_of('linked')
  for _, id in ipairs(ids) do tell_children(P, id, 'deleted') end
  return #ids > 0
end

local function drop_segments()
  for _, p in ipairs(some_of('segments')) do
    call('UNLINK', P .. 'segment:' .. p)
    call('SREM', P .. 'segments', p)
  end
  return call('EXISTS', P .. 'segments') == 1
end

local DAYS = 3660
local function drop_days()
  local today, keys = math.floor(now / @ONE_DAY_MS@), {}
  for day = today - DAYS, today + 1 do keys[#keys + 1] = P .. 'stats:' .. text(day) end
  return call('UNLINK', unpack(keys))
end

local function is_telling()
  return call('EXISTS', P .. 'fanout', P .. 'fanout_far', P .. 'outbox') > 0
end

local sessions, tasks, entries = call('ZCARD', P .. 'sessions'), call('HLEN', P .. 'tasks'), call('HLEN', P .. 'cron')
if sessions > 0 and not find(letters, 's', 1, true) then return {'served', sessions, '0'} end
if tasks > 0 and not find(letters, 't', 1, true) then return {'tasks', tasks, '0'} end
if entries > 0 then return {'cron', entries, '0'} end
if tasks > 0 then
  local deleted, next_cursor = delete_tasks()
  return {is_telling() and 'messages' or 'more', deleted, next_cursor}
end
if tell_expecting() or is_telling() then return {'messages', 0, '0'} end
if wake_all(P) or drop_sessions() or drop_named('limit_due', 'parked', 'parked_first', 'unparked') or
  drop_named('limit_dirty', 'parked', 'parked_first', 'unparked') or drop_named('tags', 'tag') or
  drop_named('failures', 'failures') or drop_segments() then
  return {'more', 0, '0'}
end
local days = drop_days()
return {'forgotten', days + call('UNLINK', P .. 'events', @OTHER_KEYS@) + call('UNLINK', select(3, @ZSET_KEYS@)), '0'}
end)()
end)()
