-- All that is known of a task, as one list, and what it adds to a reply beside its envelope, in bytes: a field that is
-- not returned has its price as well.
--   {id, state, envelope, score where it stands, session, lease, field, value, ... of info}
-- with a field "about", the session's description, for a running task, and "expires", when its session does, or
-- "stalled", when it did (0: its leases are being taken back); and "result" for a completed one that left one.
-- Of a checkpoint only its length is told ("checkpoint_bytes"), and the lines of the log only when with_log.
--
-- requires: base, result
-- gives: describe

local function describe(P, id, envelope, state, score, session, lease, with_log)
  -- Behind the point is no part of a time: lib/ties.lua.
  if state == 'scheduled' then score = text(score) end
  local reply = {id, state, envelope, score or '', session or '', lease or ''}
  local info, names, fields = P .. 'info:' .. id, {}, 0
  for _, name in ipairs(call('HKEYS', info)) do
    fields = fields + 1
    if name == 'checkpoint' then
      reply[#reply + 1] = 'checkpoint_bytes'
      reply[#reply + 1] = call('HSTRLEN', info, name)
    elseif with_log or sub(name, 1, 4) ~= 'log:' then
      names[#names + 1] = name
    end
  end
  local values = #names > 0 and call('HMGET', info, unpack(names)) or {}
  for i = 1, #names do
    reply[#reply + 1] = names[i]
    reply[#reply + 1] = values[i]
  end
  local result = state == 'completed' and result_of(P, id, score)
  if result then
    reply[#reply + 1] = 'result'
    reply[#reply + 1] = result
  end
  local about = session and call('HGET', P .. 'running:' .. session, '#')
  if about then
    reply[#reply + 1] = 'about'
    reply[#reply + 1] = about
  end
  local expires = session and tonumber(call('ZSCORE', P .. 'sessions', session))
  if expires then
    reply[#reply + 1] = expires <= clock() and 'stalled' or 'expires'
    reply[#reply + 1] = text(expires)
  end
  return reply, 128 * fields + (result and #result or 0)
end
