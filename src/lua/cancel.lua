#!lua flags=allow-oom
-- cancel: a waiting task will not run; its record is kept like that of a completed one.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    "ok", or the state that does not allow it, or "" when there is no such task
--
-- Sent twice: the second call finds the task cancelled and says so.
-- include: lib/base.lua
-- include: lib/keep.lua
-- include: lib/notify.lua
-- include: lib/where.lua

local P, id = KEYS[1], ARGV[1]
if call('HEXISTS', P .. 'tasks', id) == 0 then return '' end
local state = where(P, id)
if state ~= 'ready' and state ~= 'scheduled' then return state or '' end
call('ZREM', P .. state, id)
local settings = call('HMGET', P .. 'settings', 'completed_age', 'completed_count')
local age, count = keep_limits(settings[1], settings[2], DAY)
if age == 0 or count == 0 then
  forget(P, {id})
else
  call('ZADD', P .. 'cancelled', text(clock()), id)
  trim_count(P, 'cancelled', count, 16)
end
notify(P, {id}, 'cancelled')
return 'ok'
