#!lua flags=allow-oom
-- delete: a task that is not running goes, with all that belongs to it.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  "cascade": tasks that wait for it are cancelled; "": it is refused while there are any
-- ARGV[3]  may be missing: only a task that has ended goes, and none that came less than so many ms ago (0: of any
--          age). An enqueue with if_exists "again" calls this in one transaction with enqueue.lua, which brings the
--          task again; when it is sent twice, the task that its first copy brought stays
-- reply    "ok", or "ok more": tasks here or in other queues are still to hear of it (fan.lua), or "children <how
--          many>" that wait for it, or "running", or with ARGV[3] the state or "kept", or "" when there is no such task
--
-- Sent twice: the second call finds no such task.
-- require: base, foreign_key, sequence, control, removal, state_kinds, unrecorded

local P = KEYS[1]
local task, reply = read_removal(P)
if not task then return reply end
local age = ARGV[3]
if age and not match(age, '^%d+$') then return redis.error_reply('ERR @NAME@: ARGV[3] is a number of ms') end
if age then
  if not is_ended(task.state) then return task.state or '' end
  local at = tonumber(match(task.envelope, '"at":(%d+)')) or 0
  if age ~= '0' and at >= clock() - tonumber(age) then return 'kept' end
end
if task.state ~= 'running' then
  local why = free_of_children(P, task.id, task.cascade)
  if why then return why end
end
if task.state ~= 'running' and not age then note_unrecorded(P, clock()) end
return removal_reply(P, task, remove(P, task.id, task.envelope, task.state))
