#!lua flags=allow-oom
-- wake_idle: the threads of a session leave `idle` and are to look for work. A Redis that came back without its last
-- writes knows threads as idle that have been handed a task since: a worker calls this before it listens again
-- (lib/worker_alive.lua), so that no task is handed to a busy thread. One that is idle looks and comes back.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- reply    how many there were
--
-- Without a right to one of its commands nothing is written. A thread that cannot be woken, because its list has
-- another type, stays in `idle`, and so do those behind it.
--
-- Sent twice: the second call finds none.
-- require: base, worker_alive, allowed

local IDLE_MOST = 5000
if not KEYS[1] or not ARGV[1] then return redis.error_reply('ERR @NAME@: it takes a session') end
local P, session = KEYS[1], ARGV[1]
local refusal = rights_fault(P, 'EXISTS LRANGE LREM SADD LPUSH')
if refusal then return redis.error_reply(refusal) end
local mine, woken = session .. ':', 0
local stands = call('EXISTS', P .. 'running:' .. session) == 1
for _, entry in ipairs(call('LRANGE', P .. 'idle', 0, IDLE_MOST - 1)) do
  if sub(entry, 1, #mine) == mine then
    if stands then wake_thread(P, session, entry) end
    call('LREM', P .. 'idle', 1, entry)
    woken = woken + 1
  end
end
return woken
