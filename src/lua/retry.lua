#!lua
-- retry: a dead, cancelled or scheduled task becomes ready now, or waits again for those of its parents that have not
-- completed (lib/restore.lua). What a dead one failed and crashed is forgotten; its last error stays to be read.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    "ok", or the state that does not allow it, or "malformed" of a task that is not understood, or "" when there
--          is no such task, or "unique <id>": its unique key is held by another task
--
-- Sent twice: the second call finds the task ready (or blocked, or running) and says so.
-- require: base, sequence, requeue_front, schedule, event, history, retention, unique, dependency_edges, task_state, cancelled, control, revive

if not ARGV[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is a task') end
do
-- require: expect
  local fault = unfit(KEYS[1], ARGV[1])
  if fault then return fault end
end
local P, id = KEYS[1], ARGV[1]
local envelope = call('HGET', P .. 'tasks', id)
if not envelope then return '' end
return revive(P, id, envelope, task_state(P, id, true))
