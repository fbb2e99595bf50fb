#!lua flags=allow-oom
-- pause: a queue hands out no tasks, or does again.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "1" to pause, "0" to resume
-- reply    1 when that changed something
--
-- Sent twice: the second call changes nothing.
-- require: base, event, wake_all, wake_one

if ARGV[1] ~= '1' and ARGV[1] ~= '0' then return redis.error_reply('ERR @NAME@: ARGV[1] is "1" or "0"') end
do
-- require: expect
  local fault = unfit(KEYS[1])
  if fault then return fault end
end
local P = KEYS[1]
if ARGV[1] == '1' then
  wake_all(P)
  local set = call('HSETNX', P .. 'settings', 'paused', text(clock()))
  if set == 1 then tell(P, 'paused', '') end
  return set
end
local changed = call('HDEL', P .. 'settings', 'paused')
if changed == 1 then tell(P, 'resumed', '') end
if call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
return changed
