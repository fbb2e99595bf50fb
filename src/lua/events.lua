#!lua flags=allow-oom
-- events: how many events of a queue are kept, and for how long somebody listens.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "keep": about so many events are kept from now on, 0: none; "listen": until so many ms from now there are
--          events, whatever is kept; ask again before that; "look": changes nothing
-- ARGV[2]  the number
-- reply    [1] now in ms
--          [2] how many are kept by the queue's setting
--          [3] the id of the last event there is, or "0-0"
--          [4] how many there are
--
-- Sent twice: it says the same again.
-- include: lib/base.lua
-- include: lib/order.lua
-- include: lib/front.lua
-- include: lib/event.lua
-- include: lib/gate.lua
-- include: lib/listening.lua
-- include: lib/whole.lua

local P, what, number = KEYS[1], ARGV[1], whole(ARGV[2], 0, INT64)
if what ~= 'look' and not ((what == 'keep' or what == 'listen') and number) then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are "keep", "listen" or "look", and a number')
end
number = math.min(number or 0, LATEST)
do
-- include: lib/expect.lua
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
elseif what == 'listen' then
  local known = tonumber(call('HGET', P .. 'settings', 'events_until'))
  local ends = math.min(now + number, LATEST)
  if not known or known < ends then
    call('HSET', P .. 'settings', 'events_until', text(ends))
    announce_due(P, ends)
  end
  switch_events(P)
end
local found = redis.pcall('XREVRANGE', P .. 'events', '+', '-', 'COUNT', 1)
local last, length = found[1], redis.pcall('XLEN', P .. 'events')
local kept = tonumber(call('HGET', P .. 'settings', 'events')) or 0
return {now, kept, last and last[1] or '0-0', type(length) == 'number' and length or 0}
