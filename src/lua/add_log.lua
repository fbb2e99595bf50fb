#!lua
-- add_log: a line is added by hand to the log of a task that does not run (log.lua has those of handlers).
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  the line
-- ARGV[3]  how many lines are kept, the last ones
-- ARGV[4]  a random text that tells this call from others
-- reply    "ok", or the state that does not allow it, or "" when there is no such task
--
-- The worker of a running task does not know of the line, and would leave it behind. Sent twice: a line that came last
-- is not added again.
-- require: base, foreign_key, event, read_task, whole

local P, id, line, lines = KEYS[1], ARGV[1], ARGV[2], whole(ARGV[3], 1, 1000)
if not id or not line or not lines or not ARGV[4] then
  return redis.error_reply('ERR @NAME@: it takes a task, a line, how many lines are kept, and a random text')
end
local task, reply = read_task(P, id)
if not task then return reply end
local state, info = task.state, P .. 'info:' .. id
if not state or state == 'running' then return state or '' end
local known = call('HMGET', info, 'logged', 'logging')
if known[2] == ARGV[4] then return 'ok' end
local n = min(count_of(known[1]), LATEST - 1)
call('HSET', info, 'log:' .. text(n % lines), text(n + 1) .. ' ' .. text(clock()) .. ' ' .. line, 'logged', text(n + 1), 'logging', ARGV[4])
if state == 'completed' then call('SADD', P .. 'completed_extra', id) end
mark_info(P, id, task.envelope)
tell(P, 'logged', id, 'message', line)
return 'ok'
