#!lua flags=allow-oom
-- fan: tells some of the tasks that wait for others what became of these, which maintain.lua does as well: after a cancel or a
-- deletion, for whoever asked for it, as there may be no worker.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many to tell at most, from 1 to 40
-- reply    [1] 1 when there is more to tell
--          [2] how many messages to other queues there are (outbox.lua)
--          [3...] queues that hear of ends by the first 200 of these
--
-- Sent twice: it tells those that are still to be told.
-- require: base, foreign_key, sequence, schedule, event, history, retention, unique, dependency_edges, insert, death, fan_out

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
