#!lua flags=allow-oom
-- reap: brings tasks of a dead session back to the front of the queue. A session is dead when it sent no heartbeat for
-- as long as it lives, and is not spared (lib/upkeep.lua). maintain.lua says whether there is one. A call takes the
-- session that expired first, and brings a part of its tasks back: the newest leases first, so that the task of the
-- oldest one comes to stand first.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <max> [<life>]
--            <max>   how many leases the call dissolves at most, a whole number from 1. The budget of a call
--                    (lib/budget.lua) allows about 50, or 28 under limits; where envelopes may be large, 8
--            <life>  how long a session lives without a heartbeat, in ms, as the caller has it configured; absent:
--                    unknown
-- reply    [1] the session, or "" when none is dead
--          [2] how many of its leases were dissolved: most of these tasks are ready again, cancelled ones have ended
--          [3] 1 when the session has more, or another one is dead: call again; else 0
--
-- Example: KEYS reeve:{mail}:  ARGV 200 15000
--   reply  "9f86d081884c7d65-000004a1" 1 0   Its one task is back, and the session is gone.
--
-- Steps: the first call renames the session's hash `running:<session>` to `lost:<session>`, and sets its score in
-- `sessions` to 0. From then on the session holds no lease, and none of its outcomes is accepted. Each call dissolves
-- leases of the renamed hash. It counts a crash for each task, but for one of which it is known that it had not begun.
-- A cancelled task ends; where a task was deleted, only its lease goes. The last call removes the session.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing, or a key with a  NOPERM or WRONGTYPE and the name of     the same, once that is mended
-- fixed name has another type          the command or key; nothing is written
--                                      (exception: lib/allowed.lua)
-- Redis takes no writes                Redis's error; nothing is written       the same after a pause
-- the reply is lost                    all of it was done, or nothing          the same
-- the caller dies before the last call the session stays in `sessions`, with   nothing; maintain.lua tells any worker
--                                      the score 0                             that a session is dead
--
-- Safe to send twice, and by several workers at once: a lease that was dissolved has left the hash, so that no task
-- goes back twice, and its crash is counted once. No task dies here of its crashes: the worker that leases it next
-- compares their number with its policy.
-- require: base, upkeep, whole, dead_session, wake_one
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, budget, sequence, requeue_front, retention, event, history
return (function()
-- require: limit_state, reap

local P, max, life = KEYS[1], whole(ARGV[1], 1, INT64), ARGV[2] and whole(ARGV[2], 1, INT64)
if not max or ARGV[2] and not life then
  return redis.error_reply('ERR @NAME@: it takes the most leases to dissolve, and the life of a session in ms or nothing')
end
do
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end

local now, settings = clock(), call('HMGET', P .. 'settings', 'upkeep', 'in_force', 'large', 'paused')
local in_force = settings[2]
local _, since, ends = next_upkeep(settings[1], now, life and min(life, LATEST / 2))
local session = dead_session(P, now, since, ends)
if not session then return {'', 0, 0} end
know_in_force(P, in_force)
local count, is_left = reap_session(P, now, session, in_force, min(max, settings[3] and 8 or @CALL_MAX@), settings[3])
-- A wake-up may have gone to a thread of this session.
if not settings[4] and call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
return {session, count, (is_left or dead_session(P, now, since, ends)) and 1 or 0}
end)()
end)()
