#!lua flags=allow-oom
-- depend: edges are added to a waiting task, or taken from it.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "add", "add <n>" (the task has at most n parents then, or nothing is done), "add <n> open" (the same of the
--          callback of a batch: new parents only while it has the placeholder "!"), or "remove"
-- ARGV[2]  the child's id
-- add:     ARGV[3...] a parent's handle and the edge's policy, and so on; see lib/dependency_register.lua
-- remove:  ARGV[3...] parents' handles
-- reply    "ok", or the state that does not allow it, or "malformed", or "closed" (the batch), or "" when there is no
--          such task, or "parents <how many>" that it would have, or "unknown <id>": there is no such parent in this
--          queue, nor a record of it
--
-- A task that was ready waits from the first edge on whose parent has not ended; it is ready when the last has ended or
-- was removed. It runs also when Redis is out of memory, so that edges to tasks that Redis did not take can be removed
-- again. Sent twice: it says the same again; what was let go by the first may run by then, and it says so.
-- require: base
-- In functions, where the names above cost less to capture, and as there is room for 200 locals: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, event, history, retention, unique
return (function()
-- require: schedule, dependency_edges, task_state, read_task, parent_changes

local P, action, id = KEYS[1], ARGV[1] or '', ARGV[2]
local max, open = string.match(action, '^add (%d+)( ?o?p?e?n?)$')
if open ~= '' and open ~= ' open' then max = nil end
if not id or action ~= 'remove' and action ~= 'add' and not max or #ARGV > 4002 then
  return redis.error_reply('ERR @NAME@: it takes "add", "add <n>", "add <n> open" or "remove", a task, and at most @DEPEND_MAX@ parents')
end
local task, reply = read_waiting_task(P, id)
if not task then return reply end
if action == 'remove' then return remove_parents(P, id, task, ARGV) end
return add_parents(P, id, task, ARGV, tonumber(max), open == ' open')
end)()
end)()
