#!lua flags=allow-oom
-- pause_for: no task of a queue, or of a group in it, starts before a time; what runs goes on.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the group, or "" for the queue
-- ARGV[2]  for how long from now, in ms; 0: ends a pause
-- ARGV[3]  "1": never shortens a pause that lasts
-- reply    until when, in ms since the epoch; 0: no pause
--
-- Sent twice: the pause lasts from the later call on.
-- require: base, foreign_key, sequence, requeue_front, event, group_place, limit_state, whole

local P, group, delay = KEYS[1], ARGV[1], whole(ARGV[2], 0, INT64)
local kind, behind = virtual_kind(group or '')
if not group or #(behind or group) > @GROUP_MAX@ or not delay then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are a group or nothing, and for how long, in ms')
end
do
-- require: expect, wake_one
  local fault = unfit(KEYS[1])
  if fault then return fault end
end
local now = clock()
local ends = delay > 0 and math.min(now + delay, LATEST) or 0
local known
if group == '' then
  known = number_of(call('HGET', P .. 'settings', 'paused_until'), 0)
else
  known = number_of(call('ZSCORE', P .. 'paused_groups', group), 0)
end
if ARGV[3] == '1' and known and known > ends then return known end
if group == '' then
  if ends > 0 then call('HSET', P .. 'settings', 'paused_until', text(ends)) else call('HDEL', P .. 'settings', 'paused_until') end
  call('HDEL', P .. 'limit_state', 'opens')
else
  if ends > 0 then call('ZADD', P .. 'paused_groups', text(ends), group) else call('ZREM', P .. 'paused_groups', group) end
  if ends > 0 and kind then call('HSET', P .. 'settings', kind .. 's', '1') end
  if call('EXISTS', P .. 'parked:' .. group) == 1 then
    call('ZADD', P .. 'limit_due', text(math.max(ends, now)), group)
  end
end
know_in_force(P, change_in_force(P))
if ends > 0 then
  tell(P, 'paused', '', 'message', group, 'due', text(ends))
elseif known then
  tell(P, 'resumed', '', 'message', group)
end
announce_due(P, ends > 0 and ends or now)
if ends == 0 and call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
return ends
