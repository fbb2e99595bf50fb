#!lua flags=allow-oom
-- cancel: a waiting task will not run; its record is kept like that of a completed one.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    "ok", or the state that does not allow it, or "" when there is no such task
--
-- Sent twice: the second call finds the task cancelled and says so.
-- include: lib/base.lua
-- include: lib/order.lua
-- include: lib/front.lua
-- include: lib/schedule.lua
-- include: lib/keep.lua
-- include: lib/notify.lua
-- include: lib/where.lua
-- include: lib/unique.lua
-- include: lib/gate.lua
-- include: lib/steer.lua

local P, id = KEYS[1], ARGV[1]
local envelope = call('HGET', P .. 'tasks', id)
if not envelope then return '' end
return cancel(P, id, envelope, where(P, id), clock())
