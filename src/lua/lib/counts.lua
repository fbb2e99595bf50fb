-- How many tasks run, and how many are ready. Needs base.
local function count_running(P)
  local running = 0
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    running = running + math.max(0, call('HLEN', P .. 'running:' .. session) - 3) + call('HLEN', P .. 'lost:' .. session)
  end
  return running
end

local function count_ready(P, running)
  if call('EXISTS', P .. 'packets') == 0 then return call('ZCARD', P .. 'ready') end
  -- (With packets: whatever stands nowhere else.)
  local ready = call('HLEN', P .. 'tasks') - running
  for _, set in ipairs({'blocked', 'scheduled', 'parked', 'completed', 'dead', 'cancelled'}) do
    ready = ready - call('ZCARD', P .. set)
  end
  return ready
end
