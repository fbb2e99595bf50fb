-- A task that is not understood, and has left its state, is due: maintain.lua makes it dead.
--
-- requires: base, transitions
-- gives: put_aside

local function put_aside(P, id)
  enter_scheduled_at(P, id, '0')
  announce_due(P, 0)
end
