-- A task's state: derived from where its id stands. Returns the state, the score there, and for running tasks the
-- session and the lease ("<since ms> <thread>"). thorough: where it stands nowhere else, packets are searched.
--
-- requires: base
-- gives: in_packet, is_waiting, search_packets, task_state

local task_state, search_packets, in_packet
do
  -- Its score, if it stands in a packet (lib/segment.lua).
  function in_packet(P, id)
    if call('EXISTS', P .. 'packets') == 0 then return end
    local envelope = call('HGET', P .. 'tasks', id)
    local p = envelope and packet_of(envelope)
    local first = p and call('ZSCORE', P .. 'ready', '+' .. p)
    local place = first and call('LPOS', P .. 'packet:' .. p, id)
    return place and text(tonumber(first) + @SCORE_STEP@ * place)
  end

  -- The packet in which a task stands whose envelope does not name it any more, as another program has overwritten it, and its
  -- place there; of few packets.
  function search_packets(P, id)
    if call('SCARD', P .. 'packets') > 100 then return end
    for _, p in ipairs(call('SMEMBERS', P .. 'packets')) do
      local place = call('LPOS', P .. 'packet:' .. p, id)
      if place then return p, place end
    end
  end

  local SETS = {@STATE_SETS@}
  function task_state(P, id, thorough)
    for i = 1, #SETS do
      local score = call('ZSCORE', P .. SETS[i], id) or i == 1 and in_packet(P, id)
      if score then return SETS[i], score end
    end
    -- Those that are being reaped stand first: only their leases are in `lost:`.
    local reaped = call('ZCOUNT', P .. 'sessions', '-inf', '0')
    for i, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
      local lease = call('HGET', P .. (i > reaped and 'running:' or 'lost:') .. session, id)
      if lease then return 'running', '', session, lease end
    end
    -- Past its retention and read: lib/readers.lua.
    local ended = call('ZSCORE', P .. 'retained', id)
    if ended then return 'completed', ended end
    if not thorough then return end
    local p, place = search_packets(P, id)
    local first = p and call('ZSCORE', P .. 'ready', '+' .. p)
    if first then return 'ready', text(tonumber(first) + @SCORE_STEP@ * place) end
  end
end

-- state: nil where there is no such task.
local WAITING = {@WAITING_STATES@}
local function is_waiting(state)
  return WAITING[state]
end
