#!lua flags=allow-oom
-- events: how many events of a queue are kept, and for how long somebody listens.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "keep": about so many events are kept from now on, 0: none; "listen": until so many ms from now there are
--          events, whatever is kept; ask again before that. events_look.lua only tells of them
-- ARGV[2]  the number
-- reply    [1] now in ms
--          [2] how many are kept by the queue's setting
--          [3] the id of the last event there is, or "0-0"
--          [4] how many there are
--
-- Sent twice: it says the same again.
-- require: base, sequence, requeue_front, event, limit_state, listening, kept_events, whole

local P, what, number = KEYS[1], ARGV[1], whole(ARGV[2], 0, INT64)
if not ((what == 'keep' or what == 'listen') and number) then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are "keep" or "listen", and a number')
end
number = math.min(number, LATEST)
do
-- require: expect
  local fault = unfit(KEYS[1])
  if fault then return fault end
end
local now = clock()
if what == 'keep' then
  if number > 0 then
    call('HSET', P .. 'settings', 'events', text(number))
  else
    call('HDEL', P .. 'settings', 'events')
  end
  switch_events(P)
else
  local known = tonumber(call('HGET', P .. 'settings', 'events_until'))
  local ends = math.min(now + number, LATEST)
  if not known or known < ends then
    call('HSET', P .. 'settings', 'events_until', text(ends))
    announce_due(P, ends)
  end
  switch_events(P)
end
return kept_events(P, now)
