#!lua
-- retry: a dead, cancelled or scheduled task becomes ready now. What a dead one failed and crashed is forgotten; its last
-- error stays to be read.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    "ok", or the state that does not allow it, or "" when there is no such task
--
-- Sent twice: the second call finds the task ready (or running) and says so.
-- include: lib/base.lua
-- include: lib/order.lua
-- include: lib/where.lua

local P, id = KEYS[1], ARGV[1]
local envelope = call('HGET', P .. 'tasks', id)
if not envelope then return '' end
local state = where(P, id)
if state ~= 'dead' and state ~= 'cancelled' and state ~= 'scheduled' then return state or '' end
call('ZREM', P .. state, id)
if state == 'dead' then call('HDEL', P .. 'info:' .. id, 'failures', 'crashes') end
local o, order = header(envelope), order_open(P)
call('ZADD', P .. 'ready', text(next_score(order, o.priority, o.group, o.weight)), id)
order_save(order)
wake(P)
return 'ok'
