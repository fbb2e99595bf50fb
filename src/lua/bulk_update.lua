#!lua flags=allow-oom
-- bulk_update: retries, cancels or deletes the tasks in one state that a filter picks, some at a time.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "retry", "cancel" or "delete"
-- ARGV[2]  the state: blocked, ready, scheduled, parked, completed, dead, cancelled
-- ARGV[3]  the cursor: "" at first, then what the last reply said
-- ARGV[4]  how many tasks to look at, at least 1, of more than 1000 1000; fewer where the call has done enough (lib/budget.lua)
-- ARGV[5]  dead: only those of this kind, or ""
-- ARGV[6]  only those of this type, or ""
-- ARGV[7]  only those with this tag, or ""
-- ARGV[8]  only those that ended (came, for waiting ones) at least so long ago, in ms; 0: any
-- reply    [1] the next cursor; "" at the end
--          [2] how many were looked at
--          [3] how many it was done to
--          [4] how many it could not be done to (a unique key is held by another, or others wait for it)
--
-- Tasks that come to that state after the first call are left alone: those that ended later, and those that were
-- enqueued later. What ended later than now did so before the clock was set back. Sent twice: the second call finds less
-- to do. bulk_look.lua tells which tasks are meant.
-- require: base
-- In a function, where the names above cost less to capture, and as there is room for 200 locals: see CONTRIBUTING.md.
return (function()
-- require: foreign_key, budget, sequence, schedule, event, history, retention, unique, dependency_edges, task_state, cancelled
return (function()
-- require: control, revive, segment, sweep

local P, action, state, most, age = KEYS[1], ARGV[1], ARGV[2], nil, nil
do
-- require: whole
  most, age = whole(ARGV[4], 1, INT64), whole(ARGV[8], 0, INT64)
  local ACTIONS, STATES = ' retry cancel delete ', ' blocked ready scheduled parked completed dead cancelled '
  if not most or not age or not find(ACTIONS, ' ' .. action .. ' ', 1, true) or
    not find(STATES, ' ' .. state .. ' ', 1, true) or
    ARGV[3] ~= '' and not find(ARGV[3], '^%d+ [%d.e+-]+ [%d.einf+-]+ .*$') then
    return redis.error_reply('ERR @NAME@: it takes what to do, a state, a cursor, how many tasks to look at, and a filter')
  end
  most = math.min(most, @CALL_MAX@)
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end
local now = clock()
if call('HGET', P .. 'settings', 'large') then most = math.min(most, 50) end
local sweep = sweep_of(P, {unpack(ARGV, 2)}, now, age)
if not sweep then return {'', 0, 0, 0} end

local function act(id, envelope)
  if action == 'retry' then return revive(P, id, envelope, state) end
  local why = free_of_children(P, id)
  if why then return why end
  if action == 'cancel' then return cancel(P, id, envelope, state, now) end
  return remove(P, id, envelope, state)
end

local seen, done, failed = 0, 0, 0
local start = sweep.next_rank()
if state == 'ready' then unfold(P, start, most) end
local page = call('ZRANGE', sweep.set, start, start + most - 1, 'WITHSCORES')
local at_end = #page < 2 * most
for i = 1, #page, 2 do
  local id, score = page[i], page[i + 1]
  if tonumber(score) > sweep.limit then
    at_end = true
    break
  end
  if sweep.is_late(tonumber(score)) then
    at_end = sweep.skip_late()
    break
  end
  if seen > 0 and budget.left <= 0 then
    at_end = false
    break
  end
  local envelope = call('HGET', P .. 'tasks', id)
  local gone = false
  if envelope and sweep.means(header(envelope), tonumber(score)) then
    gone = act(id, envelope) == 'ok'
    if gone then done = done + 1 else failed = failed + 1 end
  end
  seen = seen + 1
  sweep.pass(score, not gone and id)
end
return {sweep.cursor(at_end), seen, done, failed}
end)()
end)()
