-- How many tasks run, and how many are ready. Needs base.

-- Of a session's hash; known: how many fields it has about itself, or nil: some of them, in one of a dead session.
local function leases_in(key, known)
  local count = call('HLEN', key)
  if count == 0 then return 0 end
  for _, field in ipairs(known and {} or call('HMGET', key, '#', '#flushed', '#suspect')) do
    if field then count = count - 1 end
  end
  return math.max(0, count - (known or 0))
end

local function count_running(P)
  local running = 0
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    running = running + leases_in(P .. 'running:' .. session, 3) + leases_in(P .. 'lost:' .. session)
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
