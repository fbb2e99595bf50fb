#!lua flags=allow-oom
-- delete: a task that is not running goes, with all that belongs to it.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    "ok", or "running", or "" when there is no such task
--
-- Sent twice: the second call finds no such task.
-- include: lib/base.lua
-- include: lib/keep.lua
-- include: lib/notify.lua
-- include: lib/where.lua

local P, id = KEYS[1], ARGV[1]
if call('HEXISTS', P .. 'tasks', id) == 0 then return '' end
local state = where(P, id)
if state == 'running' then return state end
if state then call('ZREM', P .. state, id) end
forget(P, {id})
notify(P, {id}, 'deleted')
return 'ok'
