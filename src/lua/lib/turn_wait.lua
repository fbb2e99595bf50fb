-- What a turn that found nothing leaves behind, so that its thread is told of the next task.
--
-- requires: shortcuts, turn_settings
-- gives: end_next, leave_idle, stand_idle

-- The thread leaves `idle`, where it waited since an earlier call. Returns whether it was handed a task or an empty item
-- meanwhile: then it is not in `idle` any more, and its list holds that.
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

-- The threads are to be handed the next tasks (lib/hand.lua): they stand in `idle`, before all others. Returns whether they do.
-- They do not where threads wait for tokens: the queue is paused or has limits, the session has not begun, or something is ready
-- (its first task was put off). EXISTS counts the session's key twice: 2 means that the session is there, and nothing is ready.
local function stand_idle(P, session, threads, settings) -- inline
  local running = P .. 'running:' .. session
  if settings[PAUSED] or settings[IN_FORCE] or call('EXISTS', running, running, P .. 'ready') ~= 2 then return false end
  for i = 1, #threads do call('LPUSH', P .. 'idle', session .. ':' .. threads[i]) end
  -- Nobody waits for a token that stands in `wake`: whoever waits for tokens would have taken it. As nothing is ready, it has
  -- nothing to tell either.
  call('DEL', P .. 'wake')
  return true
end
