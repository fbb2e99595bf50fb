-- A task's state: derived from where its id stands. Returns the state, the score there, and for running tasks the
-- session and the lease ("<since ms> <thread>"). Needs base.

-- Its score, if it stands in a packet (lib/packet.lua).
local function in_packet(P, id)
  if call('EXISTS', P .. 'packets') == 0 then return end
  local envelope = call('HGET', P .. 'tasks', id)
  local p = envelope and packet_of(envelope)
  local first = p and call('ZSCORE', P .. 'ready', '+' .. p)
  local place = first and call('LPOS', P .. 'packet:' .. p, id)
  return place and text(tonumber(first) + 256 * place)
end

local SETS = {'ready', 'scheduled', 'parked', 'blocked', 'completed', 'dead', 'cancelled'}
local function where(P, id)
  for i = 1, #SETS do
    local score = call('ZSCORE', P .. SETS[i], id) or i == 1 and in_packet(P, id)
    if score then return SETS[i], score end
  end
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    local lease = call('HGET', P .. 'running:' .. session, id) or call('HGET', P .. 'lost:' .. session, id)
    if lease then return 'running', '', session, lease end
  end
  -- Past its retention and read: lib/readers.lua.
  local ended = call('ZSCORE', P .. 'retained', id)
  if ended then return 'completed', ended end
end
