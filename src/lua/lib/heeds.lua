-- Whether a session's worker is there to hear: nil when the session does not stand; else the worker listens on a
-- channel of its own, which ends with its process. (Where it does not, it may have been killed, or lost that connection
-- alone.)
local function heeds(P, session)
  local about = call('HGET', P .. 'running:' .. session, '#')
  if not about then return nil end
  -- ({"worker":"...": patterns would take longer than the question.)
  local find, sub = string.find, string.sub
  local worker = sub(about, 12, (find(about, '"', 12, true) or 12) - 1)
  local channel = sub(P, 1, find(P, ':{', 1, true)) .. 'alive:' .. worker
  local listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2] -- (nil: an access list forbids to ask)
  return (listeners or 0) > 0
end

-- A thread that was idle is to look.
local function nudge(P, session, entry)
  call('SADD', P .. 'woken:' .. session, entry)
  call('LPUSH', P .. 'hand:' .. entry, '')
end
