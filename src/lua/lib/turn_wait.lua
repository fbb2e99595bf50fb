-- What a turn that found nothing leaves behind, so that its thread is told of the next task.
--
-- requires: shortcuts, turn_settings
-- gives: end_next, leave_idle, stand_idle

-- Removes the thread from `idle`. Returns whether another script had taken it from there before, to hand it a task or an empty item:
-- then its list has that item.
local function leave_idle(P, waiter) -- inline
  return call('LREM', P .. 'idle', '0', waiter) == 0 and call('EXISTS', P .. 'hand:' .. waiter) == 1
end

-- From now on somebody may wait. While `sequence` has `next`, enqueue.lua wakes nobody: see lib/sequence.lua, which has the same
-- function for the careful path.
local function end_next(P) -- inline
  local last = call('HGET', P .. 'sequence', 'next')
  if last then
    if (tonumber(last) or 0) > @SCORE_START@ then call('HSET', P .. 'sequence', '0', last) end
    call('HDEL', P .. 'sequence', 'next')
  end
end

-- Adds the threads to `idle`, before all others: they are to be handed the next tasks (lib/hand.lua). Returns false, and adds
-- none, where they block on `wake` instead: the queue is paused or has limits, the session has not begun, or a task is ready that
-- this turn has put off. EXISTS counts the session's key twice: 2 means that the session is there, and nothing is ready.
local function stand_idle(P, session, threads, settings) -- inline
  local running = P .. 'running:' .. session
  if settings[PAUSED] or settings[IN_FORCE] or call('EXISTS', running, running, P .. 'ready') ~= 2 then return false end
  for i = 1, #threads do call('LPUSH', P .. 'idle', session .. ':' .. threads[i]) end
  -- A token in `wake` is of no use: no thread blocks on `wake`, as it would have taken the token, and nothing is ready.
  call('DEL', P .. 'wake')
  return true
end
