-- How many tasks run, and how many are ready.
--
-- requires: base, held
-- gives: count_ready, count_running, each_session

-- How many fields of sessions are looked at: where there are more, what other versions keep about the others counts.
local FIELDS_LOOKED_AT = 1000

-- Visits each session, with the key of its leases, its id and how many it holds.
local function each_session(P, visit)
  local left = FIELDS_LOOKED_AT
  -- Sessions that are being reaped come first, with the score 0. Their leases are in `lost:`.
  local reaped = call('ZCOUNT', P .. 'sessions', '-inf', '0')
  for i, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    local key = P .. (i > reaped and 'running:' or 'lost:') .. session
    local held, looked = count_held(key, left, i > reaped)
    left = left - looked
    visit(key, session, held)
  end
end

local function count_running(P)
  local running = 0
  each_session(P, function(_, _, held) running = running + held end)
  return running
end

local function count_ready(P, running)
  if call('EXISTS', P .. 'segments') == 0 then return call('ZCARD', P .. 'ready') end
  -- With segments: all tasks but those in other states.
  local ready = call('HLEN', P .. 'tasks') - running
  for _, set in ipairs({@COUNTED_SETS@}) do
    ready = ready - call('ZCARD', P .. set)
  end
  return ready
end
