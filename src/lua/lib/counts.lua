-- How many tasks run, and how many are ready. Needs base.
-- include: lib/held.lua

-- How many fields of sessions are looked at: where there are more, what other versions keep about the others counts.
local FIELDS_LOOKED_AT = 1000
local function count_running(P)
  local running, left = 0, FIELDS_LOOKED_AT
  -- Those that are being reaped stand first: only their leases are in `lost:`.
  local reaped = call('ZCOUNT', P .. 'sessions', '-inf', '0')
  for i, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    local held, looked = count_held(P .. (i > reaped and 'running:' or 'lost:') .. session, left, i > reaped)
    running, left = running + held, left - looked
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
