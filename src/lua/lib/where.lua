-- A task's state: derived from where its id stands. Returns the state, the score there, and for running tasks the
-- session and the lease ("<since ms> <thread>").
local WAITING = {'ready', 'scheduled', 'parked', 'blocked'}
local ENDED = {'completed', 'dead', 'cancelled'}
local function where(P, id)
  for _, sets in ipairs({WAITING, ENDED}) do
    for _, set in ipairs(sets) do
      local score = call('ZSCORE', P .. set, id)
      if score then return set, score end
    end
  end
  if call('EXISTS', P .. 'packets') == 1 then
    local envelope = call('HGET', P .. 'tasks', id)
    local p = envelope and packet_of(envelope)
    local first = p and call('ZSCORE', P .. 'ready', '+' .. p)
    local place = first and call('LPOS', P .. 'packet:' .. p, id)
    if place then return 'ready', text(tonumber(first) + 256 * place) end
  end
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    local lease = call('HGET', P .. 'running:' .. session, id) or call('HGET', P .. 'lost:' .. session, id)
    if lease then return 'running', '', session, lease end
  end
end
