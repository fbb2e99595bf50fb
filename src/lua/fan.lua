#!lua flags=allow-oom
-- fan: tells some of the tasks that wait for others how these ended, by the steps in `fanout`
-- (lib/dependency_edges.lua). A child may become ready, dead or cancelled; for children in other queues messages are
-- put into `outbox`. Two callers send it: a worker's scheduler, when maintain.lua says that there are such steps, and a
-- client after a cancel or a deletion, as there may be no worker.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV[1]  how many to tell at most, from 1 to 40
-- reply    [1] 1 when there is more to tell: call again; 0: all are told, or what is left cannot be told now: there are
--              many messages to other queues already, or a newer version of reeve wrote the next step, which is
--              now the last one
--          [2] how many messages to other queues there are (outbox.lua)
--          [3...] queues that hear of ends by the first 200 of these
--
-- Example: KEYS reeve:{mail}:  ARGV 40
--   reply  0 1 bills   All children are told but one in the queue bills, for which there is a message.
--
-- Failure                              Consequence                             The caller sends next
-- ARGV[1] is not as above              an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing, or a key with a  NOPERM or WRONGTYPE and the name of     the same, once that is mended
-- fixed name has another type          the command or key; nothing is written
--                                      (exception: lib/allowed.lua)
-- Redis takes no writes                Redis's error; nothing is written       the same after a pause
-- the reply is lost, or the caller     what was told has left `fanout`, the    the same; maintain.lua tells any worker
-- dies                                 rest is there                           that there is more to tell
--
-- Safe to send twice, and by several at once: a child hears of an edge once. The second call tells those that are still
-- to be told.
-- require: base, foreign_key, sequence, schedule, event, history, retention, unique, dependency_edges, insert, death
-- require: fan_out

local P, most = KEYS[1], tonumber(ARGV[1])
if not most or not is_whole(most, 1, 40) then return redis.error_reply('ERR @NAME@: ARGV[1] is how many, from 1 to 40') end
do
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end
local more, known = fan_some(P, clock(), most, most), {}
local reply = {more and 1 or 0, call('LLEN', P .. 'outbox')}
for _, message in ipairs(call('LRANGE', P .. 'outbox', 0, 199)) do
  local queue = string.match(message, '^E %d+ ([^/]+)/')
  if queue and not known[queue] then
    reply[#reply + 1] = queue
    known[queue] = true
  end
end
return reply
