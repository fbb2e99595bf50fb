-- Handing over: a thread that found nothing stands in `idle`, the one that came last first, and blocks on a list of its
-- own. A task that comes while nothing is ready is leased to such a thread at once and pushed into that list, so that
-- it needs no turn to be found.
--
--   idle                     list  "<session>:<thread>"; not while a token stands in `wake`, nor while the queue is
--                                  paused or has a gate (lib/gate.lua)
--   hand:<session>:<thread>  list  "<ms> <id>" and, behind a newline, the envelope: a task that was leased to it then;
--                                  or empty: it is to look (lib/wake.lua)
--
-- include: lib/heeds.lua

-- Returns true when the task is in and is somebody's; false when nobody is idle; nil when its id is taken.
local function hand_over(P, id, envelope, now)
  local entry = call('LPOP', P .. 'idle')
  while entry do
    local colon = string.find(entry, ':', 1, true)
    local session = string.sub(entry, 1, colon - 1)
    local there = heeds(P, session)
    if there and call('EXISTS', P .. 'ready') == 1 then
      call('LPUSH', P .. 'idle', entry)
      return false
    end
    if there then
      local since = string.format('%d', now)
      if call('HSETNX', P .. 'tasks', id, envelope) == 0 then
        call('LPUSH', P .. 'idle', entry)
        return nil
      end
      call('HSET', P .. 'running:' .. session, id, since .. ' ' .. string.sub(entry, colon + 1))
      call('LPUSH', P .. 'hand:' .. entry, since .. ' ' .. id .. '\n' .. envelope)
      return true
    end
    -- (Nobody may be there: it is not to hold up a task.)
    if there == false then nudge(P, session, entry) end
    entry = call('LPOP', P .. 'idle')
  end
  return false
end
