-- Whether the worker of a session that stands is there to hear. A worker listens on a channel of its own, which ends with
-- its process. A session's id begins with its worker's, before a '-'. Where an access list forbids to ask, nobody is there.
-- Where the worker does not listen, it may have been killed, or lost that connection alone.
--
-- gives: stay_idle, wake_popped, wake_thread, worker_alive

local function worker_alive(P, session)
  local worker = string.sub(session, 1, (string.find(session, '-', 1, true) or 0) - 1)
  local channel = string.sub(P, 1, string.find(P, ':{', 1, true)) .. 'alive:' .. worker
  return (redis.pcall('PUBSUB', 'NUMSUB', channel)[2] or 0) > 0
end

-- Redis refused a command behind that which took a thread out of `idle`: it stands there again, the last of all, as LPUSH may be what
-- is refused. Returns the error. But a thread of which a key has the wrong type would hold up all tasks.
local function stay_idle(P, entry, fault)
  if not string.find(fault.err, '^WRONGTYPE') then redis.pcall('RPUSH', P .. 'idle', entry) end
  return fault
end

-- A thread that has left `idle` is to look. Returns nil, or the error of a command: then it stands there again.
local function wake_popped(P, session, entry) -- inline
  local said = redis.pcall('SADD', P .. 'woken:' .. session, entry)
  if type(said) == 'number' then said = redis.pcall('LPUSH', P .. 'hand:' .. entry, '') end
  if type(said) == 'table' then return stay_idle(P, entry, said) end
end

-- A thread that is idle is to look.
local function wake_thread(P, session, entry)
  redis.call('SADD', P .. 'woken:' .. session, entry)
  redis.call('LPUSH', P .. 'hand:' .. entry, '')
end
