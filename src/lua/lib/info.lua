-- All that is known of a task, as one list; needs where.lua.
--   {id, state, envelope, score where it stands, session, lease, field, value, ... of info}
-- with a field "about", the session's description, for a running task.
local function describe(P, id, envelope, state, score, session, lease)
  local reply = {id, state, envelope, score or '', session or '', lease or ''}
  local info = call('HGETALL', P .. 'info:' .. id)
  for i = 1, #info do reply[6 + i] = info[i] end
  local about = session and call('HGET', P .. 'running:' .. session, '#')
  if about then
    reply[#reply + 1] = 'about'
    reply[#reply + 1] = about
  end
  return reply
end
