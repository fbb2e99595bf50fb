-- How many tasks run, and how many are ready. Needs base.
-- include: lib/held.lua
local function count_running(P)
  local running = 0
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    running = running + count_held(P .. 'running:' .. session) + count_held(P .. 'lost:' .. session)
  end
  return running
end

local function count_ready(P, running)
  if call('EXISTS', P .. 'packets') == 0 then return call('ZCARD', P .. 'ready') end
  -- With packets: whatever stands nowhere else.
  local ready = call('HLEN', P .. 'tasks') - running
  for _, set in ipairs({'blocked', 'scheduled', 'parked', 'completed', 'dead', 'cancelled', 'retained'}) do
    ready = ready - call('ZCARD', P .. set)
  end
  return ready
end
