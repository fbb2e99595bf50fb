#!lua flags=allow-oom
-- recover: returns what a thread, or a whole session, holds in a queue. A thread calls it when the reply of its turn
-- was lost with the connection, on the new one, before it sends anything else.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  the thread's name, or "" for all threads
-- ARGV[3]  the cursor: "0", then that of the last reply
-- reply    [1] 1, or 0 when the session is not there (it has not begun, or was reaped)
--          [2] the next cursor; "0" at the end
--          [3] for each task that has something to tell: {id, failures, crashes}, as in the reply of turn.lua
--          [4] {id, lease, envelope, ...}; lease: "<since ms> <thread>"
--
--   Example: thread 3 of w-1 lost the reply to a turn that was to settle A and to lease a task.
--     KEYS "reeve:{q}:"   ARGV "w-1" "3" "0"
--     reply {1, "0", {}, {"B", "1700000000000 3", "{"at":..."}}: A was settled, and B was leased
--
-- What the caller concludes:
--   found                                          meaning                                    what it sends next
--   the session is there, a task it was to settle  it was settled; or a turn failed halfway;  regain.lua, finds a task
--     is not found                                   or its lease was ended by hand, which      of a turn that failed
--                                                    a message `revoke` says (lib/revoke.lua)
--   a task it was to settle is found with the      it was not settled                         turn.lua, to settle it
--     same lease
--   a task is found that it does not know, or      the lost turn leased it, or it was handed  turn.lua, to give it back
--     with another lease                             over meanwhile                             as a worker does; or
--                                                                                               nothing: it runs it
--   the session is not there                       it was reaped: its tasks went back, and    turn.lua, new session
--                                                    run again; outcomes would be refused
--
-- With a thread's name, the thread leaves `idle`, and its list hand:<session>:<thread> is removed: the task in it is a
-- lease, and so it is found here. A wake-up that was in it goes to another thread.
-- Sent twice: it returns the same again.
-- require: base, attempt_info, wake_one

if not KEYS[1] or #ARGV ~= 3 or #ARGV[3] > 19 or not find(ARGV[3], '^%d+$') then
  return redis.error_reply('ERR @NAME@: it takes a session, a thread or nothing, and a cursor')
end
local P, running, thread = KEYS[1], KEYS[1] .. 'running:' .. ARGV[1], ARGV[2]
if thread ~= '' and ARGV[3] == '0' then
  local name = ARGV[1] .. ':' .. thread
  call('LREM', P .. 'idle', 0, name)
  if call('DEL', P .. 'hand:' .. name) == 1 and call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
end
if call('HEXISTS', running, '#') == 0 then return {0, '0', {}, {}} end
local found = call('HSCAN', running, ARGV[3], 'COUNT', 200)
local extras, tasks = {}, {}
for i = 1, #found[2], 2 do
  local id, value = found[2][i], found[2][i + 1]
  if byte(id) ~= 35 and (thread == '' or sub(value, find(value, ' ', 1, true) + 1) == thread) then
    local envelope = call('HGET', P .. 'tasks', id)
    if envelope then
      tasks[#tasks + 1] = id
      tasks[#tasks + 1] = value
      tasks[#tasks + 1] = envelope
      if has_info(envelope) then extras[#extras + 1] = attempt_info(P, id) end
    end
  end
end
return {1, found[1], extras, tasks}
