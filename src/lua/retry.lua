#!lua
-- retry: a dead, cancelled or scheduled task becomes ready now, or waits again for those of its parents that have not
-- completed (lib/restore.lua). What a dead one failed and crashed is forgotten; its last error stays to be read. A
-- completed task runs again where that is asked for: its result is removed.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  "completed": a completed task is accepted, too; absent or "": it is refused
-- reply    "ok", or the state that does not allow it, or "malformed" of a task that is not understood, or "" when there
--          is no such task, or "unique <id>": its unique key is held by another task, or "readers <how many>" tasks
--          that have not ended may read its result
--
-- Sent twice: the second call finds the task ready (or blocked, or running) and says so.
-- require: base, foreign_key, sequence, read_task, control, revive

local again = ARGV[2] or ''
if not ARGV[1] or again ~= '' and again ~= 'completed' then
  return redis.error_reply('ERR @NAME@: ARGV[1] is a task, ARGV[2] "completed" or empty')
end
local P, id = KEYS[1], ARGV[1]
local task, reply = read_task(P, id)
if not task then return reply end
return revive(P, id, task.envelope, task.state, again ~= '')
