-- Switches events on or off, as settings.events (how many are kept) and events_until (somebody listens until then) say.
--  order.events says it to enqueue.lua, which does not read settings.
--
-- requires: base, limit_state, sequence
-- gives: switch_events

local function switch_events(P)
  if find(renew_in_force(P), 'e', 1, true) then
    end_next(P)
    call('HSET', P .. 'sequence', 'events', '1')
  else
    call('HDEL', P .. 'sequence', 'events')
    call('UNLINK', P .. 'events')
  end
end
