#!lua
-- signal: what a task waits for has come from outside, with data.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  the name of the signal
-- ARGV[3]  any bytes, for its handler
-- reply    "ok"; or "again": the signal came before, and its data stays; or "none": the task does not wait for it; or
--          the state that does not allow it; or "malformed", or "" when there is no such task
--
-- A task waits for a signal by an edge to "!<name>" (lib/dependency_register.lua). The signal removes the edge, and
-- leaves its data in the field `signal:<name>` of info:<id>.
-- Example: KEYS reeve:{mail}:  ARGV m1 approval yes
--   reply  ok   The task m1 waited for the signal approval; if it waits for nothing else, it is ready.
-- Sent twice: the second call says "again", or that the task runs or has ended by then.
-- require: base
return (function()
-- require: foreign_key, sequence, event, history, retention, unique
return (function()
-- require: schedule, dependency_edges, task_state, read_task, parent_changes

local P, id, name, data = KEYS[1], ARGV[1] or '', ARGV[2] or '', ARGV[3]
if not P or is_no_id(id) or not find(name, '^[%w._-]+$') or #name > @SIGNAL_NAME_MAX@ or not data then
  return redis.error_reply('ERR @NAME@: it takes a task, the name of a signal, and data')
end
local task, reply = read_task(P, id)
if not task then return reply end
if header(task.envelope, id).malformed then return 'malformed' end
if not is_waiting(task.state) then return task.state or '' end
local field = 'signal:' .. name
if task.state ~= 'blocked' or call('HEXISTS', P .. 'parents:' .. id, '!' .. name) == 0 then
  return call('HEXISTS', P .. 'info:' .. id, field) == 1 and 'again' or 'none'
end
call('HSET', P .. 'info:' .. id, field, data)
return remove_parents(P, id, task, {'', '', '!' .. name})
end)()
end)()
