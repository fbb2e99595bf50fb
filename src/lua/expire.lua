#!lua flags=allow-oom
-- expire: the lease of a running task ends by hand. The task is ready again, before all others of its priority, and its worker is told
-- (lib/revoke.lua), or asks (cancelled.lua). Neither a failure nor a crash is counted.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    "ok", or the state that does not allow it, or "" when there is no such task
--
-- A task that was cancelled while it ran ends as cancelled. Sent twice: the second call finds the task ready and says so; or it runs
-- again by then, and loses that lease, too.
-- require: base
-- The functions make capturing the names above cheaper: see CONTRIBUTING.md.
return (function()
-- require: foreign_key, sequence, requeue_front, retention, event, history
return (function()
-- require: bring_back, deadline, limit_state, read_task, revoke

if not ARGV[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is a task') end
local P, id = KEYS[1], ARGV[1]
local task, reply = read_task(P, id)
if not task then return reply end
if task.state ~= 'running' then return task.state or '' end

local now, in_force = clock(), call('HGET', P .. 'settings', 'in_force')
know_in_force(P, in_force)
act_as(P .. 'running:' .. task.session)
local begun, tasks = revoke(P, id, task), held_tasks()
if add_held(tasks, id, task.envelope) then
  note(P, id, now, 'lease_expired')
  if begun then fence(P, id, task.session, now) end
  local envelope = call('HGET', P .. 'tasks', id)
  if begun then envelope = drop_deadline(P, id, envelope) else keep_deadline(P, id, envelope) end
  tasks.back, tasks.envelopes = {id}, {envelope}
end
leave_limits(P, now, in_force, tasks)
tell_as(P, 'lease_expired', tasks.back)
bring_back(P, now, tasks)
return 'ok'
end)()
end)()
