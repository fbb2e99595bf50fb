#!lua flags=allow-oom
-- expire: the lease of a running task ends by hand (lib/expire_lease.lua). Neither a failure nor a crash is counted.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    "ok", or the state that does not allow it, or "" when there is no such task
--
-- A task that was cancelled while it ran ends as cancelled. Sent twice: the second call finds the task ready and says
-- so; or it runs again by then, and loses that lease, too.
-- require: base
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, requeue_front, retention, event, history
return (function()
-- require: expire_lease, read_task

if not ARGV[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is a task') end
local P, id = KEYS[1], ARGV[1]
local task, reply = read_task(P, id)
if not task then return reply end
if task.state ~= 'running' then return task.state or '' end

expire_lease(P, id, task, clock())
return 'ok'
end)()
end)()
