#!lua flags=no-writes
-- show: all that is known of a task.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    nil when there is no such task, else
--          {id, state, envelope, score, session, lease, field, value, ... of info (see lib/info.lua)}
--          The score is the due time of a scheduled task and the end of an ended one, in ms; a lease is "<since ms> <thread>".
--
-- Sent twice: it only reads.
-- include: lib/base.lua
-- include: lib/where.lua
-- include: lib/info.lua

local P, id = KEYS[1], ARGV[1]
local envelope = call('HGET', P .. 'tasks', id)
if not envelope then return false end
local state, score, session, lease = where(P, id)
return describe(P, id, envelope, state or 'unknown', score, session, lease, true)
