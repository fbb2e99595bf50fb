-- Whether the worker of a session that stands is there to hear. A worker listens on a channel of its own, which ends with
-- its process. A session's id begins with its worker's, before a '-'. Where an access list forbids to ask, nobody is there.
-- Where the worker does not listen, it may have been killed, or lost that connection alone.
--
-- gives: worker_alive, wake_thread

local function worker_alive(P, session)
  local worker = string.sub(session, 1, (string.find(session, '-', 1, true) or 0) - 1)
  local channel = string.sub(P, 1, string.find(P, ':{', 1, true)) .. 'alive:' .. worker
  return (redis.pcall('PUBSUB', 'NUMSUB', channel)[2] or 0) > 0
end

-- A thread that was idle is to look.
local function wake_thread(P, session, entry)
  redis.call('SADD', P .. 'woken:' .. session, entry)
  redis.call('LPUSH', P .. 'hand:' .. entry, '')
end
