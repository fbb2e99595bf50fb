#!lua
-- stuck: an event: the handler of a task has not returned, although the attempt has ended because of its run time limit.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  the session that held it, of the worker in which the handler runs
-- ARGV[3]  the thread
-- ARGV[4]  how long the handler has run, in ms
-- reply    1, or 0 where the queue keeps no events
--
-- Sent twice: two events.
-- require: base, event, whole

local P, id, session, thread, ran = KEYS[1], ARGV[1], ARGV[2], ARGV[3], whole(ARGV[4], 0, LATEST)
if not P or not id or not session or not thread or not ran then
  return redis.error_reply('ERR @NAME@: it takes a task, a session, a thread, and how long the handler has run')
end
if not tells(P) then return 0 end
act_as(P .. 'running:' .. session)
tell_as(P, 'stuck', id, 'thread', thread, 'message', 'its handler has run for ' .. text(ran) .. ' ms, and does not return')
return 1
