#!lua flags=no-writes
-- show: all that is known of a task.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    nil when there is no such task, else
--          {id, state, envelope, score, session, lease, field, value, ... of info (see lib/info.lua)}
--          with fields "parent_count", "child_count" and, where there are any, "parents", "children" (JSON: the first
--          100). The score is the due time of a scheduled task and the end of an ended one, in ms; a lease is "<since
--          ms> <thread>".
--
-- Sent twice: it only reads.
-- require: base, absent, task_state, states, info, dependency_view

if not KEYS[1] or not ARGV[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is a task') end
local P, id = KEYS[1], ARGV[1]
local envelope = call('HGET', P .. 'tasks', id)
if not envelope then return false end
local state, score, session, lease = searched_state(P, id)
return add_family(P, id, (describe(P, id, envelope, state or 'unknown', score, session, lease, true)))
