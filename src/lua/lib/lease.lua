-- Leasing: ids move from `ready` into the session's hash.
--
-- requires: allowed, base, event, limited_lease, flagged, segment, wake_one, put_aside, transitions
-- gives: lease

-- Before what cannot be undone: the user may call a command on the keys of the queue.
local function demand(P, name)
  if redis.acl_check_cmd(name, P .. 'tasks', P .. 'tasks') then return end
  error({err = 'NOPERM reeve needs the right to ' .. name .. ' on the keys ' .. P .. '*'})
end

-- How many of the first ids to take. company: other tasks were leased before these.
local function cut(P, running, ids, envelopes, company, extras, now)
  for i = 1, #ids do
    if envelopes[i] and is_no_id(ids[i]) then
      if i > 1 then return i - 1 end
      leave_ready(P, {ids[i]})
      put_aside(P, ids[i])
      return 0
    end
    if envelopes[i] and has_info(envelopes[i]) then
      local how = flagged.weigh(P, running, ids[i], envelopes[i], i == 1 and not company, extras)
      if how == 'off' then
        flagged.off(P, ids[i], tonumber(call('ZSCORE', P .. 'ready', ids[i])), now)
        leave_ready(P, {ids[i]})
        return 0
      end
      if how == 'stop' then return i - 1 end
      if how == 'alone' then return 1 end
    end
  end
  return #ids
end

-- How many of the first ids fit into a reply of a moderate size, at least one. Only asked where envelopes may be large.
local REPLY_BYTES = @REPLY_BYTES_MAX@
local function fit(P, ids)
  local bytes = 0
  for i = 1, #ids do
    bytes = bytes + call('HSTRLEN', P .. 'tasks', ids[i])
    if bytes > REPLY_BYTES then return math.max(1, i - 1) end
  end
  return #ids
end

-- True when the session stands in this queue, or begins now. join: its description, to begin it; empty when it has
-- begun.
local function in_session(P, index, running, session, join, ttl, now, extras)
  if call('HEXISTS', running, '#') == 1 then return true end
  -- One that stands in `sessions` without its hash is being reaped: it does not begin again.
  if join == '' then return false end
  ttl = math.min(tonumber(ttl), LATEST / 2)
-- require: types, rights
  local words = not_allowed(P, COMMANDS) or has_wrong_type(P) and wrong_type(P) or nil
  if words then error({err = words}) end
  if call('ZADD', P .. 'sessions', 'NX', text(now + ttl), session) == 0 then return false end
-- require: upkeep
  local upkeep, _, _, back = next_upkeep(call('HGET', P .. 'settings', 'upkeep'), now, ttl)
  if upkeep and not back then call('HSET', P .. 'settings', 'upkeep', upkeep) end
  call('HSET', running, '#', join, '#flushed', '', '#suspect', '')
  local said = call('HMGET', P .. 'settings', 'policy', 'result_max')
  extras[#extras + 1] = {'#', index, said[1] or '', said[2] or ''}
  return true
end

-- Leases up to `want` tasks to the session. Returns {queue index, id, envelope, ...}, or nil when there is nothing, or
-- false when the session is gone; and whether a limit lets no more of them start. settings: as in turn.lua. stands: so
-- much is known of the session.
local function lease(P, index, session, join, ttl, want, thread, now, company, settings, extras, stands)
  know_gate(P, settings[7])
  local gate = settings[7] and settings[7] ~= 'e' and gates.open(P, now, settings[7])
  if gate then
    -- Tasks leave `ready` before their places are written.
    if gate.groups then
      demand(P, 'HSET')
      demand(P, 'ZADD')
    end
    want = gates.room(gate, want)
    if want <= 0 then return nil, true end
  end
  -- One more than is wanted: whether another thread must be woken is then known, not guessed.
  unfold(P, 0, want)
  local ids = call('ZRANGE', P .. 'ready', 0, want)
  if #ids == 0 then return nil end
  if settings[6] then want = math.min(want, fit(P, ids)) end
  local running = P .. 'running:' .. session
  if not stands and not in_session(P, index, running, session, join, ttl, now, extras) then
    -- The wake-up is for somebody else: whoever asks may be frozen or cut off, with this call sent long ago.
    wake_one(P)
    return false
  end
  local envelopes, taken
  local more = #ids > want
  if gate and gate.groups then
    ids, envelopes, more = gates.admit(gate, running, want, company, extras, flagged, settings[6])
    taken = #ids
  else
    for i = #ids, want + 1, -1 do ids[i] = nil end
    envelopes = call('HMGET', P .. 'tasks', unpack(ids))
    taken = cut(P, running, ids, envelopes, company, extras, now)
  end
  if taken == 0 then
    if more or #ids > 0 then wake_one(P) end
    return nil
  end
  local leases, reply, n = {}, {index}, 0
  local since = text(now) .. ' ' .. thread
  for i = 1, taken do
    if envelopes[i] then
      leases[n + 1], leases[n + 2] = ids[i], since
      reply[n + 2], reply[n + 3] = ids[i], envelopes[i]
      n = n + 2
    end
  end
  -- The leases first: what is refused behind them is found there (recover.lua).
  if n > 0 then enter_running(running, leases) end
  if not (gate and gate.groups) then leave_ready_first(P, taken) end
  if n > 0 then
    if tells(P) then
      local told = {}
      for i = 1, n, 2 do told[#told + 1] = leases[i] end
      act_as(running)
      tell_as(P, 'leased', told, 'thread', thread)
    end
  end
  if gate then gates.take(gate, n / 2) end
  if (more or taken < #ids) and not (gate and gate.shut) then wake_one(P) end
  return reply, gate and gate.shut
end
