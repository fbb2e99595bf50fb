-- Whether the worker of a session listens. A worker subscribes to a channel of its own, `alive:<worker>`; the
-- subscription ends with its process. The id of a session begins with the id of its worker, before a '-'. If an access
-- list forbids the question, the answer is no. A worker that does not listen may have been killed, or may have lost
-- that connection alone.
--
-- gives: stay_idle, wake_popped, wake_thread, worker_alive

local function worker_alive(P, session)
  local worker = string.sub(session, 1, (string.find(session, '-', 1, true) or 0) - 1)
  local channel = string.sub(P, 1, string.find(P, ':{', 1, true)) .. 'alive:' .. worker
  return (redis.pcall('PUBSUB', 'NUMSUB', channel)[2] or 0) > 0
end

-- A thread was taken out of `idle`, and Redis refused a later command: adds the thread to `idle` again, at the end,
-- because LPUSH may be the command that is refused. Returns the error. A thread with a key of a wrong type is not added
-- again, because it would delay all tasks.
local function stay_idle(P, entry, fault)
  if not string.find(fault.err, '^WRONGTYPE') then redis.pcall('RPUSH', P .. 'idle', entry) end
  return fault
end

-- Sends an empty item to a thread that was taken out of `idle`. Returns nil; or the error of a command, after
-- stay_idle.
local function wake_popped(P, session, entry) -- inline
  local said = redis.pcall('SADD', P .. 'woken:' .. session, entry)
  if type(said) == 'number' then said = redis.pcall('LPUSH', P .. 'hand:' .. entry, '') end
  if type(said) == 'table' then return stay_idle(P, entry, said) end
end

-- Sends an empty item to a thread, so that it polls the queue.
local function wake_thread(P, session, entry)
  redis.call('SADD', P .. 'woken:' .. session, entry)
  redis.call('LPUSH', P .. 'hand:' .. entry, '')
end
