#!lua flags=allow-oom
-- cancel: a waiting task will not run; its record is kept like that of a completed one. One that runs is marked, and
-- workers are told by the control channel, "cancel <queue> <id>": it is cancelled when it settles, unless it is
-- completed then.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  "cascade": tasks that wait for it are cancelled with it; "": it is refused while there are any
-- reply    "ok", or "ok more": tasks here or in other queues are still to hear of it (fan.lua), or "children <how many>"
--          that wait for it, or "running" when it is told to stop, or the state that does not allow it, or "" when there
--          is no such task
--
-- Sent twice: the second call finds the task cancelled and says so; one that runs is told again.
-- require: base, foreign_key, event, task_state, read_task, control, cancel_mark

local cascade = ARGV[2] or ''
if not ARGV[1] or cascade ~= '' and cascade ~= 'cascade' then
  return redis.error_reply('ERR @NAME@: ARGV[1] is a task, ARGV[2] "cascade" or empty')
end
local P, id = KEYS[1], ARGV[1]
local task, reply = read_task(P, id)
if not task then return reply end
local envelope, state = task.envelope, task.state
if is_waiting(state) or state == 'running' then
  local why = free_of_children(P, id, cascade == 'cascade')
  if why then return why end
end
if state ~= 'running' then
  local said = cancel(P, id, envelope, state, clock())
  local has_more = said == 'ok' and (state == 'blocked' or ARGV[2] == 'cascade')
  return has_more and call('EXISTS', P .. 'fanout', P .. 'outbox') > 0 and 'ok more' or said
end
mark_cancelled(P, id, envelope)
tell(P, 'cancelling', id)
publish_control(P, 'cancel', id)
return state
