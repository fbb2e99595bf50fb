#!lua flags=allow-oom
-- log: a running task says something that stays with it.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  the task's id
-- ARGV[3]  the lease, "<since ms> <thread>"
-- ARGV[4]  the number of the line, from 1. Lines that a thread writes one after the other have different numbers
-- ARGV[5]  the line
-- ARGV[6]  how many lines are kept, the last ones
-- reply    1, or 0: the session does not hold the task by that lease
--
-- Lines stand in the fields log:<n> of info:<id>, n from 0 to one less than are kept, as "<number> <ms> <line>";
-- `logged` is how many there were, and `logging` says which line came last.
-- Sent twice: a line that came last is not said again.
-- require: base, event, whole

local lines = whole(ARGV[6], 1, 1000)
if not KEYS[1] or is_no_id(ARGV[2] or '') or not whole(ARGV[4], 1, LATEST) or not lines then
  return redis.error_reply('ERR @NAME@: it takes a session, a task, a lease, a number, a line, and how many lines are kept')
end
local P, id = KEYS[1], ARGV[2]
local info = P .. 'info:' .. id
local running = P .. 'running:' .. ARGV[1]
if call('HGET', running, id) ~= ARGV[3] then return 0 end
local known = call('HMGET', info, 'logged', 'logging')
local this = ARGV[3] .. ' ' .. ARGV[4]
if known[2] == this then return 1 end
local n = math.min(count_of(known[1]), LATEST - 1)
call('HSET', info, 'log:' .. text(n % lines), text(n + 1) .. ' ' .. text(clock()) .. ' ' .. ARGV[5], 'logged', text(n + 1),
  'logging', this)
local envelope = n == 0 and call('HGET', P .. 'tasks', id)
if envelope then mark_info(P, id, envelope) end
act_as(running)
tell_as(P, 'logged', id, 'message', ARGV[5])
return 1
