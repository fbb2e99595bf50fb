#!lua flags=allow-oom
-- suspect: a worker says how a task runs that has crashed twice or more (lib/flagged.lua). If the worker dies, reap.lua
-- counts crashes by what it said last.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <session> <id> <how>
--            <session>  the session's id
--            <id>       the task
--            <how>      "alone": its handler begins, nothing else runs in this worker, and nothing else begins
--                       "beside": other tasks run, too, or may begin from now on
--                       "clear": it has run alone to its end: its crashes are forgotten
--                       "over": it has ended some other way
-- reply    1, or 0 when the session does not hold the task
--
-- If the worker dies, these tasks have crashed once more, by its last call for a task that its session still holds:
--   none                  the other tasks of the session: this one had not begun
--   alone                 this task; the others had not begun, and keep their deadlines
--   beside, clear, over   all tasks of the session
--
-- Example: KEYS reeve:{mail}:  ARGV 4f1c09 A alone
--   reply  1   The worker begins A alone.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing, or Redis takes   Redis's error; what was said before     the same after a pause
-- no writes                            counts
-- the reply is lost                    it is noted, or not                     the same
-- the reply is 0                       the session does not hold the task      nothing; a handler that has not begun
--                                                                              does not begin
--
-- Safe to send twice: it notes the same again. A second "clear" finds nothing to forget.
local call = redis.call
local P, id, how = KEYS[1], ARGV[2], ARGV[3]
if not P or not how or (string.byte(id) or 0) < @ID_BYTE_MIN@ or
  not string.find(' alone beside clear over ', ' ' .. how .. ' ', 1, true) then
  return redis.error_reply('ERR @NAME@: it takes a session, a task, and how that runs')
end
local running = P .. 'running:' .. ARGV[1]
if call('HEXISTS', running, id) == 0 then return 0 end
if how == 'alone' or how == 'beside' then
  call('HSET', running, '#suspect', id .. ' ' .. how)
else
  local alone = call('HGET', running, '#suspect') == id .. ' alone'
  if alone then call('HSET', running, '#suspect', '') end
  if alone and how == 'clear' then call('HDEL', P .. 'info:' .. id, 'crashes', 'alone') end
end
return 1
