#!lua flags=no-writes
-- overdue: what is due in a queue and was not done. A queue that a worker maintains has such things for a moment only.
--
-- KEYS[1]  the queue's prefix
-- reply    [1] now in ms
--          [2] since when, in ms since the epoch: the earliest expiry of a session, time of a scheduled task, or
--              deadline that has passed; 0: a session whose leases are being taken back; -1: nothing is overdue
--          [3] how many sessions have expired
--
-- Sent twice: it only reads.
-- require: base

local P = KEYS[1]
if not P then return redis.error_reply('ERR @NAME@: KEYS[1] is missing') end
local now = clock()
local since = -1
for _, set in ipairs({'sessions', 'scheduled', 'deadlines'}) do
  local head = tonumber(call('ZRANGE', P .. set, 0, 0, 'WITHSCORES')[2])
  if head and head <= now and (since < 0 or head < since) then since = head end
end
return {now, since, call('ZCOUNT', P .. 'sessions', '-inf', text(now))}
