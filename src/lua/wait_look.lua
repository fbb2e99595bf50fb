#!lua flags=no-writes
-- wait_look: tells whether a task has ended, where wait.lua may not leave word that somebody waits: on a replica.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    its state, or "" when there is no such task
--
-- Sent twice: it only reads.
-- require: base, absent, task_state

local P, id = KEYS[1], ARGV[1]
if not P or not id then return redis.error_reply('ERR @NAME@: it takes a task') end
do
-- require: allowed
  local words = rights_fault(P, '@COMMANDS@')
  if words then return redis.error_reply(words) end
end
return call('HEXISTS', P .. 'tasks', id) == 1 and task_state(P, id) or ''
