#!lua flags=allow-oom
-- progress: a running task tells how far it is.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  the task's id
-- ARGV[3]  percent
-- ARGV[4]  words
-- reply    1, or 0: the session does not hold the task
--
-- Sent twice: it says the same again, and there is no second event.
-- require: base, event

if not KEYS[1] or #ARGV ~= 4 or is_no_id(ARGV[2]) then
  return redis.error_reply('ERR @NAME@: it takes a session, a task, percent and words')
end
local P, id = KEYS[1], ARGV[2]
local running, info = P .. 'running:' .. ARGV[1], P .. 'info:' .. id
if call('HEXISTS', running, id) == 0 then return 0 end
local known = tells(P) and call('HMGET', info, 'progress', 'progress_message')
call('HSET', info, 'progress', ARGV[3], 'progress_message', ARGV[4])
-- Whoever settles it later is to know that there is more than the envelope.
local envelope = call('HGET', P .. 'tasks', id)
if envelope then mark_info(P, id, envelope) end
if known and (known[1] ~= ARGV[3] or known[2] ~= ARGV[4]) then
  act_as(running)
  tell_as(P, 'progress', id, 'percent', ARGV[3], 'message', ARGV[4])
end
return 1
