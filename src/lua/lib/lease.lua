-- Leasing: ids move from `ready` into the session's hash. Needs base.

-- What a marked task's worker must know: {id, failures, crashes}.
local function told(P, id)
  local known = call('HMGET', P .. 'info:' .. id, 'failures', 'crashes')
  return {id, tonumber(known[1]) or 0, tonumber(known[2]) or 0}
end

-- How many of the first ids to take: a task that a crash left behind is leased alone, so that the next crash finds the
-- guilty one. company: other tasks were leased before these. Adds to extras what marked tasks have to tell.
local function cut(P, ids, envelopes, company, extras)
  for i = 1, #ids do
    local envelope = envelopes[i]
    if envelope and has_info(envelope) then
      local extra = told(P, ids[i])
      local crashed = extra[3] > 0
      if crashed and (company or i > 1) then return i - 1 end
      extras[#extras + 1] = extra
      if crashed then return 1 end
    end
  end
  return #ids
end

-- How many of the first ids fit into a reply of a moderate size, at least one. Only asked where envelopes may be large.
local REPLY_BYTES = 8388608
local function fit(P, ids)
  local bytes = 0
  for i = 1, #ids do
    bytes = bytes + call('HSTRLEN', P .. 'tasks', ids[i])
    if bytes > REPLY_BYTES then return math.max(1, i - 1) end
  end
  return #ids
end

-- Leases up to `want` tasks to the session. Returns {queue index, id, envelope, ...}, or nil when there is nothing, or
-- false when the session is gone. join: the session's description, to begin it here; empty when it has begun.
local function lease(P, index, session, join, ttl, want, thread, now, company, large, extras)
  -- (One more than is wanted: whether another thread must be woken is then known, not guessed.)
  local ids = call('ZRANGE', P .. 'ready', 0, want)
  if #ids == 0 then return nil end
  if large then want = math.min(want, fit(P, ids)) end
  local more = #ids > want
  for i = #ids, want + 1, -1 do ids[i] = nil end
  local running = P .. 'running:' .. session
  if call('HEXISTS', running, '#') == 0 then
    -- (One that stands in `sessions` without its hash is being reaped: it does not begin again.)
    if join == '' or call('ZADD', P .. 'sessions', 'NX', text(math.min(now + ttl, LATEST)), session) == 0 then
      -- (The wake-up is for somebody else: whoever asks may be frozen or cut off, with this call sent long ago.)
      wake(P)
      return false
    end
    call('HSET', running, '#', join, '#totals', '')
  end
  local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
  local taken = cut(P, ids, envelopes, company, extras)
  if taken == 0 then
    wake(P)
    return nil
  end
  call('ZREMRANGEBYRANK', P .. 'ready', 0, taken - 1)
  local leases, reply, n = {}, {index}, 0
  local since = text(now) .. ' ' .. thread
  for i = 1, taken do
    if envelopes[i] then
      leases[n + 1], leases[n + 2] = ids[i], since
      reply[n + 2], reply[n + 3] = ids[i], envelopes[i]
      n = n + 2
    end
  end
  if n > 0 then call('HSET', running, unpack(leases)) end
  if more or taken < #ids then wake(P) end
  return reply
end
