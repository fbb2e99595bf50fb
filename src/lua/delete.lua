#!lua flags=allow-oom
-- delete: a task that is not running goes, with all that belongs to it.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  "cascade": tasks that wait for it are cancelled; "": it is refused while there are any
-- reply    "ok", or "ok more": tasks here or in other queues are still to hear of it (fan.lua), or "children <how many>"
--          that wait for it, or "running", or "" when there is no such task
--
-- Sent twice: the second call finds no such task.
-- require: base, foreign_key, sequence, read_task, control

local cascade = ARGV[2] or ''
if not ARGV[1] or cascade ~= '' and cascade ~= 'cascade' then
  return redis.error_reply('ERR @NAME@: ARGV[1] is a task, ARGV[2] "cascade" or empty')
end
local P, id = KEYS[1], ARGV[1]
local task, reply = read_task(P, id)
if not task then return reply end
local envelope, state = task.envelope, task.state
if state ~= 'running' then
  local why = free_of_children(P, id, cascade == 'cascade')
  if why then return why end
end
local said = remove(P, id, envelope, state)
local has_more = said == 'ok' and (state == 'blocked' or ARGV[2] == 'cascade')
return has_more and call('EXISTS', P .. 'fanout', P .. 'outbox') > 0 and 'ok more' or said
