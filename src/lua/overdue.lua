#!lua flags=no-writes
-- overdue: what is due in a queue and was not done. A queue that a worker maintains has such things for a moment only.
--
-- KEYS[1]  the queue's prefix
-- reply    [1] now in ms
--          [2] since when, in ms since the epoch: the earliest expiry of a session, time of a scheduled task, or
--              deadline that has passed; 0: a session whose leases are being taken back; -1: nothing is overdue
--          [3] how many sessions have expired
--          [4] since when the oldest message to another queue, or task that is to hear of an end, waits, in ms since
--              the epoch; 0: not known; -1: none does. They wait for longer than a moment also where another queue
--              refuses messages
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
-- Messages and sets of children have numbers that are times in us, or more (lib/retention.lua).
local untold = -1
for _, list in ipairs({'outbox', 'fanout', 'fanout_far'}) do
  local line = call('LINDEX', P .. list, 0)
  if line then
    local number = match(line, '^%a (%d+) ') or match(line, '^fanout:(%d+) ') or match(line, '^(%d+) ')
    local at = min(now, math.floor((tonumber(number) or 0) / 1000))
    if untold < 0 or at < untold then untold = at end
  end
end
return {now, since, call('ZCOUNT', P .. 'sessions', '-inf', text(now)), untold}
