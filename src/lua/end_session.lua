#!lua flags=allow-oom
-- end_session: a session ends in good order. Tasks that it still holds go back to the front, without a failure or a
-- crash; tasks that were cancelled while they ran are cancelled.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <session> <max> [<turns>]
--            <session>  the session's id
--            <max>      how many tasks the call gives back at most, a whole number from 1; more than 1000 is 1000. A
--                       call gives back fewer in a queue with limits for groups
--            <turns>    [3] of the last reply; "" or absent in the first call, and where the reply had none
-- reply    [1] how many tasks went back
--          [2] 1 when the session has not ended yet: call again; else 0
--          [3] absent, or <turns> of the next call (lib/turns.lua). Without it groups take turns among the tasks of
--          each call only
--
-- Example: KEYS reeve:{mail}:  ARGV 4f1c09 200 ""
--   reply  3 0   Three tasks went back, and the session has ended.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing, or a key has     NOPERM or WRONGTYPE and the name of     nothing; reap.lua recovers the tasks
-- another type                         the command or key; nothing is written  later, and counts crashes
-- Redis takes no writes                Redis's error; nothing is written       the same after a pause
-- the reply is lost                    all of it was done, or nothing          the same, with the same <turns>
-- the caller dies before the last call the session stays, with what it holds   nothing; as above
-- the session is not known             {0, 0}                                  nothing
--
-- Safe to send twice: what went back has left the session's hash, and the second call goes on with what is left. The
-- sums of the worker reach the statistics by heartbeat.lua, which the caller sends before.
-- require: base
-- The function makes capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, requeue_front, leases, turns, drop_session, event, history, limit_state, schedule
-- require: retention, unique, once, dependency_edges, wake_one
-- require: cancelled, whole, cancel_mark, deadline, transitions, bring_back

local P, session, max = KEYS[1], ARGV[1], whole(ARGV[2], 1, INT64)
if not session or not max then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are a session and the most tasks to give back')
end
do
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end

-- A task of a limited group takes Redis some 40 to 80 us. A page is such that groups take turns over a batch of 256
-- tasks. Where envelopes may be large, few are read at once.
local LIMITED, PAGE, LARGE_PAGE = 32, 320, 8

-- The leases that end in this call; and as from last_turns, turns and <turns> of the next call.
local function next_leases(running, is_large, room, last)
  local leases = leases_of(running, is_large and LARGE_PAGE or PAGE)
  if is_large then return leases, nil, '' end
  return last_turns(P, leases, room, sub(last or '', 1, 8192))
end

-- May meet a task without an envelope, which has been deleted, and one that was cancelled.
local function sort_held(leases)
  local tasks, ids = held_tasks(), {}
  for i = 1, #leases do
    local id = leases[i][1]
    local envelope = call('HGET', P .. 'tasks', id)
    ids[i] = id
    if add_held(tasks, id, envelope) then
      tasks.back[#tasks.back + 1] = id
      tasks.envelopes[#tasks.envelopes + 1] = drop_deadline(P, id, envelope)
    end
  end
  return tasks, ids
end

local running = P .. 'running:' .. session
-- From here on other sessions are to get what goes back: no task is handed to a thread of this one.
forget_idle(P, session)
local woken = forget_woken(P, session)
local is_large, in_force = unpack(call('HMGET', P .. 'settings', 'large', 'in_force'))
max = math.min(max, in_force and find(in_force, 'g', 1, true) and LIMITED or @CALL_MAX@)
local leases, turns, next_turns = next_leases(running, is_large, max, ARGV[3])
local tasks, ids = sort_held(leases)
if #ids > 0 then
  leave_running(running, ids)
  forget_handed(P, session, leases)
  know_in_force(P, in_force)
  act_as(running)
  local now = clock()
  leave_limits(P, now, in_force, tasks)
  tell_as(P, 'given_back', tasks.back)
  bring_back(P, now, tasks, turns)
end
-- A thread is woken where a task is ready: a wake-up may have gone to a thread of this session, which does not use it.
if call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
local is_left = free_keys(P, session, text(max)) or woken or call('HLEN', running) > 3 and #leases_of(running, 1) > 0
if is_left then return next_turns ~= '' and {#tasks.back, 1, next_turns} or {#tasks.back, 1} end
drop_session(P, running)
-- A dead session stays in `sessions` until reap.lua has brought its last task back.
if call('EXISTS', P .. 'lost:' .. session) == 0 then call('ZREM', P .. 'sessions', session) end
return {#tasks.back, 0}
end)()
