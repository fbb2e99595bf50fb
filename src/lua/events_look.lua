#!lua flags=no-writes
-- events_look: tells how many events of a queue are kept (events.lua), and how many there are.
--
-- KEYS[1]  the queue's prefix
-- reply    as that of events.lua
--
-- Sent twice: it only reads.
-- require: base, kept_events

do
-- require: expect
  local fault = unfit(KEYS[1])
  if fault then return fault end
end
return kept_events(KEYS[1], clock())
