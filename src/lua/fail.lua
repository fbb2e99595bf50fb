#!lua flags=allow-oom
-- fail: a task dies by hand, with a kind and a message. A running one loses its lease, and its worker is told
-- (lib/revoke.lua).
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  the kind of the error
-- ARGV[3]  its message
-- reply    "ok", or "ok more": tasks here or in other queues are still to hear of it (fan.lua), or the state that does
--          not allow it, or "" when there is no such task
--
-- No failed attempt is counted. Tasks that wait for it hear that it died. Sent twice: the second call finds the task
-- dead and says so.
-- require: base
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, event, history, retention, unique, dependency_edges
return (function()
-- require: cancel_mark, control, deadline, death, limit_state, read_task, revoke, task_state

local P, id, kind, message = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if not message or kind == '' then
  return redis.error_reply('ERR @NAME@: it takes a task, the kind of an error, and a message')
end
local task, reply = read_task(P, id)
if not task then return reply end
local state, envelope, now = task.state, task.envelope, clock()
if state == 'running' then
  local in_force = call('HGET', P .. 'settings', 'in_force')
  if revoke(P, id, task) then fence(P, id, task.session, now) end
  envelope = unmark_cancelled(P, id, envelope)
  if in_force then release(P, {id}, now, in_force) end
elseif is_waiting(state) then
  leave_place(P, id, state, envelope)
else
  return state or ''
end
mark_info(P, id, drop_deadline(P, id, envelope))
dies(P, id, now, kind, message)
return call('EXISTS', P .. 'fanout', P .. 'outbox') > 0 and 'ok more' or 'ok'
end)()
end)()
