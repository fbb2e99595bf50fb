#!lua flags=allow-oom
-- begin_session: registers the session of a worker in a queue. A worker calls it before the turn that is to lease
-- there, when a turn has said that a task is ready and the session is not there ([3] in the reply of turn.lua). So a
-- session begins where it is needed.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <session> <life> <about>
--            <session>  the session's id
--            <life>     how long the session lives without a heartbeat, in ms
--            <about>    its description, an object of JSON; its member `worker` is the id of the worker
-- reply    {<policy>, <result max>, <payload max>}   the session is there. <policy>: that of the queue (JSON) or "";
--            <result max>, <payload max>: how large results and payloads may be, in bytes, or ""
--          {}   the session has ended, and its tasks are being brought back (reap.lua): it does not begin now. Once
--               they are back, nothing tells that there was a session of that id
--
-- Example: KEYS reeve:{mail}:  ARGV w-1 15000 {"worker":"w"}
--   reply  "{"attempts":3}" "" ""   The session has begun. Tasks of the queue have three attempts; results have
--                                   no limit.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing that some script  NOPERM or WRONGTYPE and the name of     the same, once that is mended
-- of a session needs, or a key with a  the commands or the key; nothing is
-- fixed name has another type          written
-- Redis takes no writes                Redis's error; nothing is written       the same after a pause
-- the reply is lost                    all of it was done, or nothing          the same; with a new id if the session
--                                                                              may have been reaped since
-- the reply is {}                      nothing is written                      the same with a new id
--
-- Safe to send twice while the session is there, which stays as it is. An id that has ended is not to be used again:
-- outcomes of its old leases could count for new ones. Later changes of what the reply tells are returned by
-- maintain.lua.
-- require: shortcuts, types, rights, allowed, upkeep, whole

local P, session, life, about = KEYS[1], ARGV[1], whole(ARGV[2], 0, 9223372036854775808), ARGV[3]
if not P or session == '' or not life or not about or #ARGV ~= 3 then
  return redis.error_reply('ERR @NAME@: it takes a session, its life in ms, and its description')
end
local running = P .. 'running:' .. session
if call('HEXISTS', running, '#') == 0 then
  local fault = rights_fault(P, COMMANDS) or wrong_type(P)
  if fault then return redis.error_reply(fault) end
  local time = call('TIME')
  local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
  life = math.min(life, 4503599627370496)
  -- A session that is in `sessions` but has no hash is being reaped.
  if call('ZADD', P .. 'sessions', 'NX', format('%d', now + life), session) == 0 then return {} end
  local upkeep, _, _, back = next_upkeep(call('HGET', P .. 'settings', 'upkeep'), now, life)
  if upkeep and not back then call('HSET', P .. 'settings', 'upkeep', upkeep) end
  call('HSET', running, '#', about, '#flushed', '', '#suspect', '')
end
local known = call('HMGET', P .. 'settings', 'policy', 'result_max', 'payload_max')
return {known[1] or '', known[2] or '', known[3] or ''}
