#!lua flags=allow-oom
-- heartbeat: renews the expiry of a session, and adds the sums of its worker to the statistics of the queue.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <session> <life> [<flush> <day> <fields> <kinds> {<field> <sum>} {<kind> <retried> <dead>}
--          {<type> <completed> <failed> <dead> <waits> <runs>}]
--            <session>  the session's id; "": the worker has no session in the queue, but maintains it (lib/upkeep.lua)
--            <life>     how long the session lives without another heartbeat, in ms
--            <flush>    the number of these sums, larger than that of any before in the session
--            <day>      their day, in days since the epoch
--            <fields>   how many fields follow, and for each of them what to add to it; of a field that ends with :min
--                       or :max the least or the largest is kept
--            <kinds>    how many kinds of errors follow, and for each of them how many attempts that failed so were
--                       retried, and how many tasks died of it
--            <type>     a type of task, and its numbers. <waits>, <runs>: <count> <sum> <min> <max>, of waits in ms, of
--                       runs in us
-- reply    [1] 1, or 0 when the session is gone, with its leases; its sums were not added
--          [2] how many tasks it holds; fields that another version keeps about the session count, too
--          [3] 1 when a wake-up waits for a thread of the queue, which only stands while none waits for it; else 0
--
-- Example: KEYS reeve:{mail}:  ARGV 4f1c09 15000 7 20000 1 1 completed 12 timeout 2 1
--   reply  1 3 0   The session holds three tasks. 12 completed tasks were added, and for the kind timeout two retries
--                  and a death.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- Redis takes no writes                Redis's error; nothing is written       the same after a pause, and again, until
--                                                                              its leases have expired
-- the reply is lost                    all of it was done, or nothing          the same
-- the reply is {0, ...}                the tasks are other sessions'           turn.lua with a new session; the sums
--                                                                              with its flush
--
-- Safe to send twice: sums are added where <flush> is larger than the session's last one.
-- require: upkeep, whole

local call = redis.call
local P, session, life = KEYS[1], ARGV[1], whole(ARGV[2], 0, 9223372036854775808)
local add, kinds, types = nil, nil, nil
if ARGV[3] then
-- require: worker_sums
  add = add_sums
  kinds, types = are_sums(ARGV)
end
if not P or not session or not life or add and not kinds then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are a session and its life in ms, the others sums of a day')
end
life = math.min(life, 4503599627370496)

local running = P .. 'running:' .. session
local last_flush = session == '' or call('HGET', running, '#flushed')
if not last_flush then return {0, 0, 0} end

-- When the queue was last maintained. A step back of Redis's clock is left for maintain.lua to find.
local time = call('TIME')
local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
local known = call('HGET', P .. 'settings', 'upkeep')
local upkeep, _, _, back = nil, nil, nil, nil
if known or session ~= '' then upkeep, _, _, back = next_upkeep(known, now, life) end
if upkeep and not back then call('HSET', P .. 'settings', 'upkeep', upkeep) end
local woken = call('EXISTS', P .. 'wake')
if session == '' then return {1, 0, woken} end

call('ZADD', P .. 'sessions', 'XX', string.format('%d', now + life), session)
if add and tonumber(ARGV[3]) > (tonumber(last_flush) or 0) then
  -- The number first: sums that another program makes fail are not added again and again.
  call('HSET', running, '#flushed', ARGV[3])
  add(P, ARGV, kinds, types, now)
end
return {1, call('HLEN', running) - 3, woken}
