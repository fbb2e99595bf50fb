#!lua flags=allow-oom
-- suspect: a worker says how a task runs that crashes left behind, so that the next crash finds the guilty one
-- (lib/flagged.lua).
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  the task's id
-- ARGV[3]  "alone": its handler begins, nothing else runs in this worker, and nothing else begins
--          "beside": other tasks run, too, or may begin from now on
--          "clear": it has run alone to its end: its crashes are forgotten
--          "over": it has ended some other way
-- reply    1, or 0 when the session does not hold the task
--
-- Sent twice: it says the same again.
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
