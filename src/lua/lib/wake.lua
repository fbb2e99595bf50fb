-- Wakes one idle thread: one that waits to be handed something (lib/hand.lua) is handed nothing, which means: look;
-- else a token is for whoever waits for it, one at most. Where a token stands, nobody is idle. A thread that finds more
-- than it takes wakes the next one.
--
--   woken:<session>  set  of those of its threads that were woken this way once, while the session stands
-- include: lib/heeds.lua

local function wake(P)
  if call('LLEN', P .. 'wake') > 0 then return end
  local entry = call('LPOP', P .. 'idle')
  while entry do
    local session = string.match(entry, '^[^:]*')
    if call('EXISTS', P .. 'running:' .. session) == 1 then
      nudge(P, session, entry)
      if heeds(P, session) then return end
    end
    entry = call('LPOP', P .. 'idle')
  end
  call('LPUSH', P .. 'wake', '1')
end
