-- Whether the worker of a session that stands is there to hear: it listens on a channel of its own, which ends with its
-- process. (Where it does not, it may have been killed, or lost that connection alone.) A session's id begins with its
-- worker's, before a '-'.
local function heeds(P, session)
  local find, sub = string.find, string.sub
  local worker = sub(session, 1, (find(session, '-', 1, true) or 0) - 1)
  local channel = sub(P, 1, find(P, ':{', 1, true)) .. 'alive:' .. worker
  local listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2] -- (nil: an access list forbids to ask)
  return (listeners or 0) > 0
end

-- A thread that was idle is to look.
local function nudge(P, session, entry)
  call('SADD', P .. 'woken:' .. session, entry)
  call('LPUSH', P .. 'hand:' .. entry, '')
end
