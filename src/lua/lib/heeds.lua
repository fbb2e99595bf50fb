-- Whether a session's worker is there to hear: nil when the session does not stand; else the worker listens on a
-- channel of its own, which ends with its process. (Where it does not, it may have been killed, or lost that connection
-- alone.)
local function heeds(P, session)
  local about = call('HGET', P .. 'running:' .. session, '#')
  if not about then return nil end
  local channel = string.match(P, '^(.*):{') .. ':alive:' .. (string.match(about, '"worker":"([^"]*)"') or '')
  local listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2] -- (nil: an access list forbids to ask)
  return (listeners or 0) > 0
end

-- A thread that was idle is to look.
local function nudge(P, session, entry)
  call('SADD', P .. 'woken:' .. session, entry)
  call('LPUSH', P .. 'hand:' .. entry, '')
end
