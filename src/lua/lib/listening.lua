-- Switches events on or off: they are on while settings.events (how many are kept) is set, or events_until (until when
-- somebody listens). The field `events` of `sequence` is set at the same time, for enqueue.lua, which does not read
-- settings.
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
