#!lua flags=allow-oom
-- checkpoint: a running task leaves what its next attempt goes on from.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  the task's id
-- ARGV[3]  any bytes, in place of those before; empty: none any more
-- reply    1, or 0: the session does not hold the task
--
-- It stands in the field `checkpoint` of info:<id>, and `has` is "c" while it does; it goes when the task completes.
-- Sent twice: it says the same again.
-- require: base

if not KEYS[1] or #ARGV ~= 3 or is_no_id(ARGV[2]) then
  return redis.error_reply('ERR @NAME@: it takes a session, a task and bytes')
end
local P, id = KEYS[1], ARGV[2]
local info = P .. 'info:' .. id
if call('HEXISTS', P .. 'running:' .. ARGV[1], id) == 0 then return 0 end
if ARGV[3] == '' then
  call('HDEL', info, 'checkpoint', 'has')
  return 1
end
call('HSET', info, 'checkpoint', ARGV[3], 'has', 'c')
local envelope = call('HGET', P .. 'tasks', id)
if envelope then mark_info(P, id, envelope) end
return 1
