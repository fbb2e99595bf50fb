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

local P, what, number = KEYS[1], ARGV[1], tonumber(ARGV[2])
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
  if not known or known < now + number then
    call('HSET', P .. 'settings', 'events_until', text(now + number))
    announce_due(P, now + number)
  end
  switch_events(P)
end
local last = call('XREVRANGE', P .. 'events', '+', '-', 'COUNT', 1)[1]
local kept = tonumber(call('HGET', P .. 'settings', 'events')) or 0
return {now, kept, last and last[1] or '0-0', call('XLEN', P .. 'events')}
