-- Schedules a malformed task for now; maintain.lua then makes it dead. The caller has removed it from its state.
--
-- requires: base, transitions
-- gives: put_aside

local function put_aside(P, id)
  enter_scheduled_at(P, id, '0')
  announce_due(P, 0)
end
