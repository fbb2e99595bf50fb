-- What a call of turn.lua that leased its thread nothing leaves behind, so that the thread is told of the next task.
-- The thread waits in one of two ways. It is in the list `idle` and blocks on a list of its own: enqueue.lua hands it a
-- task there (lib/hand.lua). Or it blocks on `wake` until a script puts a token there (lib/wake_one.lua).
--
-- requires: shortcuts, turn_settings
-- gives: end_next, leave_idle, stand_idle

-- Removes the thread from `idle`. waiter: "<session>:<thread>". Returns whether another script took it from there
-- before, to hand it a task or an empty item: then the item is in its list.
local function leave_idle(P, waiter) -- inline
  return call('LREM', P .. 'idle', '0', waiter) == 0 and call('EXISTS', P .. 'hand:' .. waiter) == 1
end

-- From now on a thread may wait. While `sequence` has the field `next`, enqueue.lua wakes nobody: so that is renamed to
-- `0`. lib/sequence.lua describes the fields, and has the same function for the careful path.
local function end_next(P) -- inline
  local last = call('HGET', P .. 'sequence', 'next')
  if last then
    if (tonumber(last) or 0) > @SCORE_START@ then call('HSET', P .. 'sequence', '0', last) end
    call('HDEL', P .. 'sequence', 'next')
  end
end

-- Adds the threads to the head of `idle`: they are handed the next tasks. Returns false, and adds none, if they are to
-- block on `wake` instead: the queue is paused, limits or events are on, the session does not exist, or a task is ready
-- that this call did not lease. EXISTS counts the session's key twice: 2 means that the session exists and nothing is
-- ready.
local function stand_idle(P, session, threads, settings) -- inline
  local running = P .. 'running:' .. session
  if settings[PAUSED] or settings[IN_FORCE] or call('EXISTS', running, running, P .. 'ready') ~= 2 then return false end
  for i = 1, #threads do call('LPUSH', P .. 'idle', session .. ':' .. threads[i]) end
  -- A token in `wake` is useless now: no thread blocks on `wake`, as it would have taken the token, and nothing is
  -- ready.
  call('DEL', P .. 'wake')
  return true
end
