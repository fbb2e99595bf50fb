#!lua flags=allow-oom
-- once: unlocks the unique key of a task that runs at most once, when its handler has returned.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  the task's id
-- reply    1, or 0 when the session held no key of this task
--
-- Sent twice: the second call finds none.
-- require: base, once

if not KEYS[1] or not ARGV[2] then return redis.error_reply('ERR @NAME@: it takes a session and a task') end
local P, session, id = KEYS[1], ARGV[1], ARGV[2]
local key = call('HGET', P .. 'once:' .. session, id)
if not key then return 0 end
free_key(P, session, id, key)
return 1
